"""What is known of pods and nodes over time, and in which orders it can have happened."""
