"""What becomes of a pod in the scheduler: its place, its attempts, its status, and what the cache knows."""
