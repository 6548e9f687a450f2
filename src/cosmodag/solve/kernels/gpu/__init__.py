"""Kernels for a GPU, and the distribution of one problem over several devices.

Pallas is imported when a kernel is first used.
"""
