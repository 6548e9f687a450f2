"""Regimes: targets of imperfect interventions, and equations of their own."""
