"""Two forms of a walk: in a terminal, and as a page on loopback."""
