"""Orders from which a search can start, computed from the moments alone."""
