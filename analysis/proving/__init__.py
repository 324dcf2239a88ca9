"""Every cluster up to a size."""
