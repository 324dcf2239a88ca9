"""Counterexamples executed on kube-scheduler's own code: a Go module for a version, its run, and what came of it."""
