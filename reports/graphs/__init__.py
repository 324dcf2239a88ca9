"""Drawings of counterexamples, as DOT source."""
