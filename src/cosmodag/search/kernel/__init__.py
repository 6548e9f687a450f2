"""The compiled part of the order search: choice of parents, records of the choices, and moves."""
