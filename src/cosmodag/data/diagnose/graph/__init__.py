"""Findings about a learnt graph: relations, hidden causes, and what stays open."""
