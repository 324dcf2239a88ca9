"""What components declare: state, steps, fairness, and the words in which runs are told."""
