"""Random walks in native code."""
