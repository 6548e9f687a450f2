"""Finishing an order: prune it, search near it, choose the score."""
