"""Properties and patches of the user's own."""
