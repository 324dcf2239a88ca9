"""Groups of pods: the state of each group in the cache, and the cycle that schedules a group as one (1.36); the entries of the queue that groups are in 1.37, and their cycle."""
