"""Commands that look at a counterexample or at what a cluster wrote down."""
