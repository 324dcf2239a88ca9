"""The model: its language, the scheduler, the environment around it and recorded histories."""
