"""Memory, threads and devices that this process may use."""
