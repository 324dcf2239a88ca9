"""The scheduler cache and the snapshot (pkg/scheduler/backend/cache)."""
