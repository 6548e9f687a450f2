"""Attributes and methods of fitted learners: arcs, summary, drawings, effects, validation."""
