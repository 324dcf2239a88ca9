"""`podrace prove`: every cluster up to a size, whatever the requests, capacities and priorities."""
