"""Methods: sequences of sub-problems whose solutions lead to a DAG."""
