"""The compiled part of the order search: parents grown and shrunk, records of them, and moves."""
