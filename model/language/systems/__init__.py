"""Transition systems: models, traced step by step, what they remember, and what is told of their steps."""
