"""Options that commands share, and the objects built from their values."""
