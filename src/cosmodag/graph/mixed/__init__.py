"""Mixed graphs, with a mark at each end of every edge: ancestral graphs and their classes."""
