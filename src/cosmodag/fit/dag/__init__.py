"""Parts of a fitted DAG: preparation, knowledge, equations, rows, regimes, basis of arrows."""
