"""What a person or a pipe sees: results on stdout, messages and progress on stderr, files that options name."""
