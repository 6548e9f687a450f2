"""Learners that are trained: their base class, default settings and batches of problems."""
