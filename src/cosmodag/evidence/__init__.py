"""Evidence about families of equations: held-out densities, tests of what was kept, gross cells.

Functions on arrays; learners, and the referee that runs them, are in `cosmodag.learners`.
"""
