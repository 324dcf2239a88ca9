"""What is asked for: options, scenarios, properties and patches of the user's own, turned into runs or refused."""
