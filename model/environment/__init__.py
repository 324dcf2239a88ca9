"""What happens around the scheduler: API server, kubelets, nodes and clients."""
