"""Tables of every kind: categories, counts and curves, as blocks of columns."""
