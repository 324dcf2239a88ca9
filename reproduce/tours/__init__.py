"""Tours: runs that take every transition of a system, executed on the real scheduler."""
