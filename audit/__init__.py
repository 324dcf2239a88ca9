"""Which scheduling invariants a cluster broke, out of what operators have of it: the API server's audit log, events, the scheduler's log."""
