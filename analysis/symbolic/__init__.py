"""Questions that Z3 answers: proofs by induction, and the smallest cluster that violates a property."""
