"""A cluster as a scenario gives it: its objects, what they ask of one another, what becomes of them, and the scope of a run.

Names, labels, affinity terms and the initial placement are fixed by the scenario. Requests, capacities and priorities are
quantities: constants in explicit checking, unknown in symbolic checking.
"""
