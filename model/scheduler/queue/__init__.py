"""The scheduling queue and the nominator (pkg/scheduler/backend/queue)."""
