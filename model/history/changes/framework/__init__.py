"""What filters, hints, scores and extenders did before a change."""
