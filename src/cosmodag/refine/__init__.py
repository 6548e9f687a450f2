"""Finishing an answer: from an order or a fitted learner to the arcs that the data support."""
