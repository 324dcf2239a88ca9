"""Random runs of the model, executed on the real scheduler."""
