"""Kernels for a GPU, and the distribution of one problem over several devices.

Nothing here imports Pallas before a kernel is used.
"""
