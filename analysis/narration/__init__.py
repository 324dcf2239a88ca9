"""How a counterexample speaks of the scheduler."""
