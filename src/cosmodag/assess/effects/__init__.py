"""Effects of interventions, from a fitted graph, its equivalence class and its equations."""
