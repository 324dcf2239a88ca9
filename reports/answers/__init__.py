"""What commands other than `check` say: walks, ways, proofs over all clusters; each with its printing."""
