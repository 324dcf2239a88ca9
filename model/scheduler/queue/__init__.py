"""The scheduling queue, its clock, and the nominator (backend/queue, 1.34)."""
