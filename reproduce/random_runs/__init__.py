"""Random runs of the model, on random clusters."""
