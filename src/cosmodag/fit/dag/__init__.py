"""Parts of a fitted DAG: its rows and noise, and graphs where causes may be hidden."""
