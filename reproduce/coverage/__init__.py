"""Which code of the real scheduler replays reach."""
