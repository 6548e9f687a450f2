"""Parts of a fitted DAG: equations, rows and noise, the basis of arrows, and hidden causes."""
