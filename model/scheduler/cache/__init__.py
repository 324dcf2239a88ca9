"""The scheduler cache, its NodeInfos and node tree, and the snapshot (backend/cache, 1.34)."""
