"""The Kubernetes scheduler as transitions written in the model language."""
