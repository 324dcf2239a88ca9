"""The cache's table: a case is a list of operations."""
