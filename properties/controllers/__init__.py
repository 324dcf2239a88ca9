"""Those who make and take away pods and nodes, and the names that come again."""
