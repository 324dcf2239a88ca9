"""Where pods are bound, nominated and placed as a group, and what makes room for them."""
