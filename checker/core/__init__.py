"""What every engine shares: the reference interpreter, traces and results, what a search is asked and answers, what the machine lends."""
