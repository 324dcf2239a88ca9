"""What a change is, and all changes by their names."""
