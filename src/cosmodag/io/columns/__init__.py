"""Columns of tables: their names, and their values as numbers or levels, or refused."""
