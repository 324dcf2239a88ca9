"""What commands other than `check` say: proofs over all clusters, answers, walks by hand; each with its printing."""
