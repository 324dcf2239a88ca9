"""Cases: what they say, and the situation of the model that each describes."""
