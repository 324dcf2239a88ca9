"""All clusters at once: the finitely many that a system with unknown quantities can tell apart."""
