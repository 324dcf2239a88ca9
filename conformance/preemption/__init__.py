"""Preemption's tables, and the scenarios of the whole scheduler among their rows."""
