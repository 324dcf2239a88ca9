"""What the plugin of claims and devices did before a change."""
