"""Expressions as Z3 terms, and the solver that is asked about them."""
