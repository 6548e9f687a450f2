"""Kernels: the same steps as the reference loop, faster, for declared recipes."""
