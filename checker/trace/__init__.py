"""Runs of a system: executed, shown, shortened and explained by the reference interpreter."""
