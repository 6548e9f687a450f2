"""The paper's evaluation: experiments, a file of their results, and tables and figures of it."""

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
