"""Two schedulers compared."""
