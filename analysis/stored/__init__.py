"""Stored counterexamples: written, read, executed again."""
