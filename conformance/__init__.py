"""Conformance: upstream's own unit-test tables, run on the functions that the explorer explores."""
