"""Search for graphs of tables with categories, counts and curves."""
