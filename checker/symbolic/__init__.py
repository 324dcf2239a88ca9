"""Reading a transition system with Z3: bounded search with unknown parameters, and proofs by induction.

Three layers: `theories` and `translate` turn expressions into terms; `unroll` and `solve` turn runs into
constraints and answers back into runs; `bounded`, `synthesis` and `induction` reason. Nothing here knows a scheduler, and
nothing that a solver says is shown before the reference interpreter has executed it (`claims`).
"""
