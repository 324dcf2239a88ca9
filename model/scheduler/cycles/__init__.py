"""The scheduling cycle and the binding cycle, and the failure handler that ends both (schedule_one.go)."""
