"""What the plugins of claims, volumes and groups did before a change."""
