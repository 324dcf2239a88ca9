"""What every engine shares: the reference interpreter, what a search is asked and answers, what the machine lends."""
