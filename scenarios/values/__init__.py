"""What sections are written in: YAML with places, names, quantities and ranges."""
