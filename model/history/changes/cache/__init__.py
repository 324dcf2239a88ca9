"""What the cache, the snapshot and the node tree did before a change."""
