"""The compiled search over orders: growing and shrinking parents, moves and trials."""
