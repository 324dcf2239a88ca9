"""Who makes pods, and who takes pods and nodes away, each by a view of its own: controllers, descheduler, autoscaler, disruption and taints."""
