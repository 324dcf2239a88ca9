"""Commands that hold the model against others, or hand it to them."""
