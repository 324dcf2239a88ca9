"""All clusters at once: the finitely many that a system with unknown parameters can tell apart."""
