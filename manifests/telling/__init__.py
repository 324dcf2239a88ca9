"""What was kept of a cluster, for its reader: a scenario, and sentences."""
