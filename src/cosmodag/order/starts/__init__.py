"""Orders to start a search from, without learning anything."""
