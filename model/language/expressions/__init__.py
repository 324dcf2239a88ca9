"""Expressions: typed values, what they range over, and the graph that they make."""
