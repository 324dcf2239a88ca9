"""Preemption: what the cycle asks, and the goroutine that evicts (framework/preemption, 1.34)."""
