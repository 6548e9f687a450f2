"""The paper's evaluation: experiments, their results in one file, tables and figures from it."""

from cosmodag.bench.protocol import Experiment, find_experiment, names, read_experiment
from cosmodag.bench.run import Resources, Run, run
from cosmodag.bench.store import Store

__all__ = [
    "Experiment",
    "Resources",
    "Run",
    "Store",
    "find_experiment",
    "names",
    "read_experiment",
    "run",
]
