"""What a property asks of a system, the slice that decides it, and what an answer about the slice means for the whole."""
