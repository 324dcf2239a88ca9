"""Reductions: fewer states for the same answers."""
