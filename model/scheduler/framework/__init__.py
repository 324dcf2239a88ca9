"""The scheduling framework: events, statuses, filters, scores, hints, waiting pods (pkg/scheduler/framework)."""
