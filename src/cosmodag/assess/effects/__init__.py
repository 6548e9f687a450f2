"""Effects of interventions, by a fitted graph, its equivalence class and its equations."""
