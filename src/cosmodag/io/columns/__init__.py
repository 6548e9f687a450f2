"""Columns of tables: their names, values converted to numbers or levels, and refusals."""
