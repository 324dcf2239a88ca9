"""Reports for programs, CI services and other viewers."""
