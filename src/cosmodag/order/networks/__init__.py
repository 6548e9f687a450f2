"""Which inputs of a network are real, by the evidence of Gaussian processes."""
