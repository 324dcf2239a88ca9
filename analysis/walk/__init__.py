"""Walk the states of a system by hand: the steps that can come next, and why others cannot; on demand, never the whole space."""
