"""The sections of a scenario file, one a file: what they may say, and what is refused."""
