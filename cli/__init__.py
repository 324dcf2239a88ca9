"""The podrace command line."""
