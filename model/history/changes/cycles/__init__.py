"""What the scheduling cycle, the binding cycle and the failure handler did before a change."""
