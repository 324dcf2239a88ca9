"""What filters, hints and extenders did before a change."""
