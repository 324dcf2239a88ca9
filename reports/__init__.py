"""Reports on what the checker found: traces, diagrams and summaries."""
