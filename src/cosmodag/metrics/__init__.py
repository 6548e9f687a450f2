"""Scores of an estimated graph against the true one.

Scores compare a true graph B with an estimate W, both d×d with [u, v] the arc u → v; either may be
dense, sparse or a data frame. The estimated graph has the arcs with |W_uv| > threshold. All counts
and rates are over the d² entries, including the diagonal, as in the paper: a self-loop is a false
positive. A ratio whose denominator is zero is ``nan``.
"""

from cosmodag.metrics.evaluation import evaluate
from cosmodag.metrics.scores import adjustment_distances, order_divergence

__all__ = ["adjustment_distances", "evaluate", "order_divergence"]
