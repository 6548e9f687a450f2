"""Findings about rows: number and order, gaps, several populations, series in time."""
