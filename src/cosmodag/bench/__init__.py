"""The paper's evaluation: experiments, their results in one file, tables and figures from it."""

from cosmodag.bench.protocol import Experiment, find_experiment, names, read_experiment
from cosmodag.bench.run import Means, Run, run
from cosmodag.bench.store import Store

__all__ = [
    "Experiment",
    "Means",
    "Run",
    "Store",
    "find_experiment",
    "names",
    "read_experiment",
    "run",
]
