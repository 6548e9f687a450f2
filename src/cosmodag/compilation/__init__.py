"""Compilation by Numba: a disk cache of programs, faster compilers, and a progress count.

The decorators are in `cosmodag.compiled`.
"""
