"""Kernels for a GPU, written in Pallas."""
