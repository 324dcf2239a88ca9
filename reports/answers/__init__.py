"""What commands other than `check` say: walks, ways, proofs over all clusters, inductions, smallest clusters; each with its printing."""
