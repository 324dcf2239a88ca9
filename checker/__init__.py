"""The model checker: explores a model written in the model language."""
