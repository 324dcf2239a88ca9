"""A cluster in the words of a scenario file, one section of the file a function."""
