"""From a YAML file to a scenario: every mistake is one line that names file, line and path."""
