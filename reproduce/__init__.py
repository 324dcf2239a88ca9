"""Runs of the model on the real kube-scheduler: forced step by step, and compared with it."""
