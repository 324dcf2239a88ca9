"""Commands that compare releases and changes, and say what is known of them."""
