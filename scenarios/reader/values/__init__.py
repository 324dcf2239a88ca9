"""What sections are written in: YAML with places, quantities, ranges, labels, and where a pod may go."""
