"""What commands share: options, messages, exit codes, and what they read and write."""
