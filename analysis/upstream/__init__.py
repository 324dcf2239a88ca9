"""Upstream's source: which functions that the model stands for have changed."""
