"""What a property is, how it is traced together with the model, and what several of them read."""
