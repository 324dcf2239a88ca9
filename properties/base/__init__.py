"""What a property is, how it is traced beside the model, and what several of them read."""
