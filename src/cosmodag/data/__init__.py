"""Information about a table: background knowledge, interventions, and a diagnosis."""
