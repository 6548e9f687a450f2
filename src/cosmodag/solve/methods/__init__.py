"""Methods: sequences of problems that end in a DAG."""
