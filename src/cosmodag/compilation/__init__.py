"""How functions are compiled by Numba: programs kept on disk, quick compilers, and progress.

The decorators are in `cosmodag.compiled`.
"""
