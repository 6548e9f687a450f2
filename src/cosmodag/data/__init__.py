"""What is said about a table: knowledge, interventions, and a diagnosis."""
