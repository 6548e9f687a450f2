"""Code that commands share: options, messages, exit codes, reading and writing."""
