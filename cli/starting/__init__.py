"""Scenario files to begin with: the one that is explained line by line, and one for each kind of report."""
