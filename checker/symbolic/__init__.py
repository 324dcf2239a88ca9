"""Reading a transition system with Z3: bounded search with unknown parameters, synthesis of clusters, and proofs by induction.

`unrolling` turns runs into constraints and models back into runs; `bounded`, `synthesis` and `induction` reason. Nothing here
knows a scheduler, and nothing that a solver says is shown before the reference interpreter has executed it (`bounded.confirmed`).
"""
