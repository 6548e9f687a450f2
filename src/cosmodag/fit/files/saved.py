"""Saving and loading of fitted learners: the DAG, parameters and further attributes."""

import json
import os
from typing import Any

from numpy.typing import NDArray

from cosmodag.data.kinds import plain_kinds
from cosmodag.data.knowledge import Knowledge
from cosmodag.errors import DataError
from cosmodag.fit.files.dag import (
    MODEL,
    as_arrays,
    as_plain,
    dag_arrays,
    dag_facts,
    dag_from,
    from_arrays,
    from_plain,
    read_parts,
    refusing_damage,
)
from cosmodag.fit.files.trusted import check_arrays, check_facts, check_values
from cosmodag.fit.view.fitted import FittedGraph
from cosmodag.io.files import write_model
from cosmodag.learners.registry import learner_named
from cosmodag.learners.structure_learner import StructureLearner

__all__ = ["MODEL", "learner_from", "load", "save"]

# Fitted attributes of every learner that are plain values.
_FACTS = (
    "stopped_",
    "refinement_",
    "was_cyclic_",
    "dropped_arcs_",
    "noise_scores_",
    "refine_report_",
    "missing_report_",
    "curves_reason_",
)

# Parameters that are paths. They are neither written nor read, since a file from elsewhere could
# name any path.
_PATHS = ("checkpoint",)


def save(model: FittedGraph, path: str | os.PathLike[str], *, residuals: bool) -> None:
    """Write a fitted learner: its DAG, parameters and further fitted attributes."""
    dag, own = model.fitted_, vars(model)
    _check_name(model)
    arrays = dag_arrays(dag, residuals=residuals)
    arrays |= as_arrays("raw_weights_", getattr(model, "raw_weights_", None))
    arrays |= {name: getattr(model, name) for name in model.extra_arrays if hasattr(model, name)}
    # The content of a knowledge file, not its path, so that loading a model opens no other file.
    parameters = {**model.get_params(deep=False), "knowledge": dag.knowledge}
    parameters |= {name: None for name in _PATHS if name in parameters}
    if "kinds" in parameters:  # the constructor of a user's class may lack it
        parameters["kinds"] = plain_kinds(parameters["kinds"])
    facts = dag_facts(dag)
    names = [name for name in (*_FACTS, *model.extra_facts) if name in own]
    facts["fitted"] = {name: as_plain(own[name]) for name in names} | facts["fitted"]
    facts = {
        "learner": type(model).__name__,
        "parameters": {name: _written(name, value) for name, value in parameters.items()},
        **facts,
    }
    write_model(path, arrays, facts)


def load(path: str | os.PathLike[str]) -> StructureLearner:
    """Read a fitted model that ``model.save(path)`` or ``cosmodag fit -o path`` wrote.

    Nothing in the file is run as code: it contains numbers, names and parameter values. A learner
    that is not part of cosmodag can be loaded once the program has defined or imported its class. A
    parameter that cannot be written, such as a generator given as ``random_state``, is loaded as
    None.
    """
    arrays, facts = read_parts(path)
    with refusing_damage(path):
        if isinstance(facts, dict) and "fitted_dag" in facts:
            raise DataError(
                f"'{path}' holds a fitted graph without its learner: read it with "
                "cosmodag.FittedDAG.load."
            )
        return learner_from(path, arrays, facts)


def learner_from(
    path: str | os.PathLike[str], arrays: dict[str, NDArray[Any]], facts: Any
) -> StructureLearner:
    """Construct a learner from the content of a file, and check the content before its use."""
    check_facts(facts)
    learner = learner_named(facts["learner"])
    if learner is None:
        raise DataError(
            f"'{path}' holds a {facts['learner']}, which is not defined here: import the module "
            "that defines it first, or update cosmodag if a later version wrote the file."
        )
    check_values(facts)
    check_arrays(arrays, facts)
    parameters = {name: from_plain(value) for name, value in facts["parameters"].items()}
    known = parameters.get("knowledge")
    parameters["knowledge"] = Knowledge(**known) if isinstance(known, dict) else None
    parameters |= {name: None for name in _PATHS if name in parameters}
    model = learner(**parameters)
    model.check_settings()
    _restore(model, arrays, facts)
    return model


def _restore(
    model: StructureLearner, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]
) -> None:
    """Set the fitted attributes that :func:`save` wrote."""
    fitted = facts["fitted"]
    raw = from_arrays("raw_weights_", arrays, len(arrays["order"]))
    kept = {} if raw is None else {"raw_weights_": raw}
    kept |= {name: arrays[name] for name in model.extra_arrays if name in arrays}
    kept |= {name: fitted[name] for name in (*_FACTS, *model.extra_facts) if name in fitted}
    for name, value in kept.items():
        setattr(model, name, value)
    dag = dag_from(
        arrays,
        facts,
        equations=model.equations_from(arrays),
        knowledge=model.knowledge,
        lags=model.lags,
        follows_units=model.order_follows_units(fitted.get("noise_")),
        learner=type(model).__name__,
    )
    model.n_features_in_, model.fitted_ = dag.d, dag
    if dag.columns is not None:
        model.feature_names_in_ = dag.columns


def _check_name(model: FittedGraph) -> None:
    """Refuse a learner that `load` could not find, or would confuse with another."""
    kind = type(model)
    if learner_named(kind.__name__) is not kind:
        raise DataError(
            f"This {kind.__name__} ({kind.__module__}) cannot be saved, because another learner "
            "has the same name, and the file would be loaded as that one: rename the class."
        )


def _written(name: str, value: Any) -> Any:
    """Convert the value of a parameter for JSON, or refuse it."""
    plain = as_plain(value)
    try:
        json.dumps(plain)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"The model cannot be saved: its parameter {name} is a {type(value).__name__}, but a "
            "file can hold numbers, texts and lists only."
        ) from error
    return plain
