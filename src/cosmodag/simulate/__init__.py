"""Random graphs, and data sampled from them, by name or part by part."""

from cosmodag.graph.dags import DENSE_LIMIT
from cosmodag.io.datasets import Dataset
from cosmodag.simulate.interventional import Experiments, interventional
from cosmodag.simulate.mechanisms import (
    NOISES,
    NONLINEAR,
    population_covariance,
    sample_linear,
    sample_nonlinear,
)
from cosmodag.simulate.named import DatasetName, load, parse_name
from cosmodag.simulate.random_graphs import bipartite, erdos_renyi, random_weights, scale_free

__all__ = [
    "DENSE_LIMIT",
    "NOISES",
    "NONLINEAR",
    "Dataset",
    "DatasetName",
    "Experiments",
    "bipartite",
    "erdos_renyi",
    "interventional",
    "load",
    "parse_name",
    "population_covariance",
    "random_weights",
    "sample_linear",
    "sample_nonlinear",
    "scale_free",
]
