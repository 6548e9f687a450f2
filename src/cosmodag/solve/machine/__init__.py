"""What this process may use: memory, threads and devices."""
