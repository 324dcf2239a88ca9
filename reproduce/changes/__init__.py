"""A change of kube-scheduler's own code: read, told, built, and judged by what the changed code does."""
