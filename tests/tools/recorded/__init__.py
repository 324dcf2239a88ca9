"""Random runs of the real scheduler, explained by the model."""
