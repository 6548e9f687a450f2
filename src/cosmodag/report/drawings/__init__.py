"""Layout of nodes, and drawings that need no browser."""
