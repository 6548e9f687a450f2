"""Choice of the inputs of networks, and of their order, by the evidence of Gaussian processes."""
