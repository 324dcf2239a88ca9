"""What the queue and the event handlers did before a change."""
