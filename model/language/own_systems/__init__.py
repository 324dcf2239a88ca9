"""Systems of one's own: what a class says of itself, what is refused of it, and the transition system that it makes."""
