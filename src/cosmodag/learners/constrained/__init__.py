"""Learners that the paper compares with: acyclicity by a constraint, a barrier or a potential."""
