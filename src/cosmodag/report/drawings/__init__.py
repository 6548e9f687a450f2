"""Places for nodes, and drawings that need no browser."""
