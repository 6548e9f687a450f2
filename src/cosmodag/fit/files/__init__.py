"""Files of fitted learners: written, read, and checked."""
