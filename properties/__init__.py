"""The properties that every execution of the model has to satisfy."""
