"""The fake time that passes before each step."""
