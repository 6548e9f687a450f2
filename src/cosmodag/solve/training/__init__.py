"""Training: the reference loop, Adam, the order of rows, and checkpoints."""
