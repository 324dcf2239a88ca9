"""Fair cycles and resettability, decided on the stored graph."""
