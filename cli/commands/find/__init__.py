"""Commands that find races, or prove that there are none."""
