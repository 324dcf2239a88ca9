"""Answers to questions about the order of steps: the search, what is in the way, and the releases side by side."""
