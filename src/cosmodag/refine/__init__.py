"""Finishing an order: which arcs are real, and which order explains the data best."""
