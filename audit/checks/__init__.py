"""What is asked of a history, a file for each kind of question. Every answer holds in all orders that the log leaves open."""
