"""Saved models: fitted learners as arrays and facts in one file, and learners again."""

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.knowledge import Knowledge
from cosmodag.errors import CosmodagError, DataError
from cosmodag.fit.fitted import FittedGraph
from cosmodag.fit.known import Known
from cosmodag.fit.matrices import as_arrays, from_arrays
from cosmodag.fit.preparation import Preparation
from cosmodag.fit.trusted import (
    DamagedError,
    check_arrays,
    check_facts,
    check_model,
    check_values,
)
from cosmodag.io.files import read_model, write_model
from cosmodag.learners.base import StructureLearner
from cosmodag.learners.registry import learner_named

__all__ = ["load", "save"]

_MATRICES = ("raw_weights_", "weights_", "adjacency_")
_FACTS = (
    "stopped_",
    "was_cyclic_",
    "dropped_arcs_",
    "noise_",
    "noise_reason_",
    "noise_scores_",
    "refine_report_",
    "missing_report_",
)

# Parameters that name places on a disk: neither written nor believed, since a file from elsewhere
# could name any place.
_OF_THIS_MACHINE = ("checkpoint",)


def save(model: FittedGraph, path: str | os.PathLike[str], *, residuals: bool) -> None:
    """Write a fitted learner; see :meth:`FittedGraph.save`."""
    fitted = vars(model)
    arrays: dict[str, NDArray[Any]] = {"order": model.order_, **model.preparation_.arrays()}
    for name in _MATRICES:
        if name in fitted:
            arrays |= as_arrays(name, fitted[name])
    kept = ("noise_variances_", "deviations_", "target_sets_", *model.extra_arrays)
    if residuals:
        kept += ("residuals_",)
        if model.known_.targets is not None:
            arrays["targets"] = model.known_.targets
    arrays |= {name: fitted[name] for name in kept if fitted.get(name) is not None}
    arrays |= model.parameters_as_arrays()
    _check_name(model)
    # Knowledge as it was read, so that no path is opened when the model is loaded.
    parameters = {**model.get_params(deep=False), "knowledge": model.knowledge_}
    parameters |= {name: None for name in _OF_THIS_MACHINE if name in parameters}
    facts = {
        "learner": type(model).__name__,
        "parameters": {name: _written(name, value) for name, value in parameters.items()},
        "names": None if "feature_names_in_" not in fitted else list(model.feature_names_in_),
        "fitted": {
            name: _plain(fitted[name]) for name in (*_FACTS, *model.extra_facts) if name in fitted
        },
    }
    write_model(path, arrays, facts)


def load(path: str | os.PathLike[str]) -> StructureLearner:
    """Read a fitted model that ``model.save(path)`` wrote.

    Nothing that is read can run code: the file holds numbers, names and parameter values. A
    learner that is not part of cosmodag is found if the program has defined or imported it. A
    parameter that cannot be written, such as a generator given as ``random_state``, comes back as
    None.
    """
    arrays, facts = read_model(path)
    try:
        return _rebuilt(path, arrays, facts)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, CosmodagError):
            raise
        reason = f": {error}" if isinstance(error, DamagedError) else ""
        raise DataError(f"'{path}' is not a saved model, or it is damaged{reason}.") from error


def _rebuilt(
    path: str | os.PathLike[str], arrays: dict[str, NDArray[Any]], facts: dict[str, Any]
) -> StructureLearner:
    """Make a learner of what a file holds, none of which is believed before it was checked."""
    check_facts(facts)
    learner = learner_named(facts["learner"])
    if learner is None:
        raise DataError(
            f"'{path}' holds a {facts['learner']}, which is not defined here: import the module "
            "that defines it first, if it is not from a later version of cosmodag."
        )
    check_values(facts)
    check_arrays(arrays, facts)
    # A saved tuple comes back as a list.
    parameters: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in facts["parameters"].items()
    }
    known = parameters.get("knowledge")
    parameters["knowledge"] = Knowledge(**known) if isinstance(known, dict) else None
    parameters |= {name: None for name in _OF_THIS_MACHINE if name in parameters}
    model = learner(**parameters)
    model.check_settings()
    _restore(model, arrays, facts)
    check_model(model)
    return model


def _restore(
    model: StructureLearner, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]
) -> None:
    """Set the fitted attributes that :func:`save` wrote."""
    model.order_ = arrays["order"]
    model.n_features_in_ = len(model.order_)
    if facts["names"] is not None:
        model.feature_names_in_ = np.array(facts["names"], dtype=object)
    model.preparation_ = Preparation.from_arrays(arrays)
    for name in _MATRICES:
        matrix = from_arrays(name, arrays, model.n_features_in_)
        if matrix is not None:
            setattr(model, name, matrix)
    kept = ("noise_variances_", "deviations_", "residuals_", "target_sets_", *model.extra_arrays)
    for name in kept:
        if name in arrays:
            setattr(model, name, arrays[name])
    model.take_parameters(arrays)
    for name in (*_FACTS, *model.extra_facts):
        if name in facts["fitted"]:
            setattr(model, name, facts["fitted"][name])
    model.knowledge_ = model.knowledge
    model.known_ = Known(model.bounds(), arrays.get("targets"))


def _check_name(model: FittedGraph) -> None:
    """Refuse a learner that `load` could not find, or would take for another."""
    kind = type(model)
    if learner_named(kind.__name__) is not kind:
        raise DataError(
            f"This {kind.__name__} ({kind.__module__}) cannot be saved: another learner has the "
            "same name, and the file would be read as one of those; rename the class."
        )


def _written(name: str, value: Any) -> Any:
    """Value of a parameter as JSON can hold it."""
    plain = _plain(value)
    try:
        json.dumps(plain)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"The model cannot be saved: its parameter {name} is a {type(value).__name__}, and "
            "files hold numbers, texts and lists only."
        ) from error
    return plain


def _plain(value: Any) -> Any:
    """Value as JSON can hold it: NumPy's numbers as Python's, what it cannot hold as None."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None
    if isinstance(value, Knowledge):
        return value.facts()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
