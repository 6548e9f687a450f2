"""Findings about columns: copies, scales, values and kinds, and sortability."""
