"""What all drawings share: how wide text is, and where the parts of a cluster stand."""
