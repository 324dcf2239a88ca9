"""Runs of a system: executed, shown, shrunk and explained by the reference interpreter."""
