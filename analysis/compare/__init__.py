"""Two schedulers compared: by scenarios, over all clusters, and which changes of several are needed."""
