"""Parts of a fitted DAG: its constants, noise, bases of directions, and new rows."""
