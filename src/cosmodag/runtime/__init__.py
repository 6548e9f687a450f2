"""The machine under a fit: compilation, devices, memory, threads, lazy imports and engines."""
