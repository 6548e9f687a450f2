"""Kinds of columns, knowledge, interventions, regimes, times, and the diagnosis of a table."""
