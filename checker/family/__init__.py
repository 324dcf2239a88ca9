"""All choices of the parameters of one system explored as one: a state is visited once for all choices that reach it alike."""
