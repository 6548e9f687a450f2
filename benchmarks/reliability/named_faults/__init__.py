"""All named faults; those of the order search come last."""

from named_faults import (
    answers,
    experiments,
    files,
    fitting,
    graphs,
    models,
    order_search,
    questions,
    refining,
    solving,
    tables,
)
from named_faults.fault import Fault

__all__ = ["FAULTS", "Fault"]

FAULTS: tuple[Fault, ...] = (
    *graphs.FAULTS,
    *models.FAULTS,
    *solving.FAULTS,
    *fitting.FAULTS,
    *tables.FAULTS,
    *answers.FAULTS,
    *questions.FAULTS,
    *experiments.FAULTS,
    *files.FAULTS,
    *refining.FAULTS,
    *order_search.FAULTS,
)
