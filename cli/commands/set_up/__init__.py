"""Commands that set podrace up, and say what it is."""
