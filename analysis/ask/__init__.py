"""Questions about the order of steps, and what their words mean in a system."""
