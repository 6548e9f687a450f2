"""Graph formats: their names, and readers and writers of CSV, DOT and DAGitty."""
