"""Files of fitted DAGs and learners: writing, reading, and checks."""
