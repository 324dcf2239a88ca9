"""What the scheduler did with groups of pods before a change."""
