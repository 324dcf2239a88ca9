"""What the plugin VolumeBinding knows of volumes and claims (framework/plugins/volumebinding)."""
