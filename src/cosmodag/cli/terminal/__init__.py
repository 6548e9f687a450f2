"""The command line as a program: messages, errors, exit codes, signals, cache."""
