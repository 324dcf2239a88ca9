"""The states of a search: stored, found again, and led back to the initial state."""
