"""Preemption: victims, candidates, and the evaluator (pkg/scheduler/framework/preemption)."""
