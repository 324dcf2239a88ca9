"""The scheduling framework (framework, 1.34): what a plugin sees and answers, filters, scores, events and hints, waiting pods."""
