"""The scheduling queue's tables: a case is a list of operations."""
