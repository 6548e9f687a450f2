"""Whether a graph is believable: tests of what it implies, and comparisons with chance."""
