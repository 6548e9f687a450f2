"""How acyclic a weighted graph is."""

from cosmodag.dags import agreeing, drop_cycles, is_dag, order_of, topological_order

__all__ = ["agreeing", "drop_cycles", "is_dag", "order_of", "topological_order"]
