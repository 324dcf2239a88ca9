"""Two schedulers compared: by scenarios, and which changes of several are needed."""
