"""What the plugin of volumes did before a change."""
