"""Order search."""
