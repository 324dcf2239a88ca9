"""What preemption and the nominator did before a change."""
