"""Saving and loading of fitted learners: arrays and facts in one file."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.kinds import ColumnKind, plain_kinds
from cosmodag.data.knowledge import Knowledge
from cosmodag.data.time.window import Window
from cosmodag.errors import CosmodagError, DataError
from cosmodag.fit.files.trusted import (
    DamagedError,
    check_arrays,
    check_facts,
    check_model,
    check_values,
)
from cosmodag.fit.fitted import FittedGraph
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.known import Known
from cosmodag.fit.preparation import Preparation
from cosmodag.fit.regimes.fitted import FittedRegimes
from cosmodag.io.files import read_model, write_model
from cosmodag.learners.base import StructureLearner
from cosmodag.learners.registry import learner_named

__all__ = ["MODEL", "load", "save"]

MODEL = "model.safetensors"
"""File with the model in a folder that ``cosmodag fit`` wrote."""

_MATRICES = ("raw_weights_", "weights_", "adjacency_")
_FACTS = (
    "stopped_",
    "was_cyclic_",
    "dropped_arcs_",
    "noise_scores_",
    "refine_report_",
    "missing_report_",
    "curves_reason_",
)

_NOISE = ("noise", "noise_reason")

_HAD_VARIANTS = ("Notears", "Dagma", "NoCurl")

# Parameters that are paths: neither written nor read, since a file from elsewhere could name any
# path.
_OF_THIS_MACHINE = ("checkpoint",)


def save(model: FittedGraph, path: str | os.PathLike[str], *, residuals: bool) -> None:
    """Write a fitted learner; see :meth:`FittedGraph.save`."""
    dag, own = model.fitted_, vars(model)
    arrays: dict[str, NDArray[Any]] = {"order": dag.order, **dag.preparation.arrays()}
    for name in _MATRICES:
        if hasattr(model, name):
            arrays |= _as_arrays(name, getattr(model, name))
    kept = (
        *("noise_variances_", "deviations_", "target_sets_", "turning_losses_"),
        *model.extra_arrays,
    )
    if residuals:
        kept += ("residuals_",)
        # Entries that were set or imputed: `sample` does not use their residuals.
        masks = {"targets": dag.known.targets, "absent": dag.known.absent}
        arrays |= {name: mask for name, mask in masks.items() if mask is not None}
    arrays |= {name: getattr(model, name) for name in kept if hasattr(model, name)}
    arrays |= dag.equations.arrays()
    arrays |= {} if dag.regimes is None else dag.regimes.arrays()
    _check_name(model)
    # Knowledge as it was read, so that loading a model opens no other file.
    parameters = {**model.get_params(deep=False), "knowledge": dag.knowledge}
    parameters |= {name: None for name in _OF_THIS_MACHINE if name in parameters}
    if "kinds" in parameters:  # a class of a user may have a constructor of its own
        parameters["kinds"] = plain_kinds(parameters["kinds"])
    facts = {
        "learner": type(model).__name__,
        "parameters": {name: _written(name, value) for name, value in parameters.items()},
        "names": None if dag.columns is None else list(dag.columns),
        "kinds": [kind.facts() for kind in dag.kinds],
        "regimes": None if dag.regimes is None else list(dag.regimes.names),
        "fitted": {name: _plain(own[name]) for name in (*_FACTS, *model.extra_facts) if name in own}
        | {f"{name}_": getattr(dag, name) for name in _NOISE if getattr(dag, name) is not None},
    }
    if dag.window is not None:
        facts["in_time"] = {"series": dag.window.series, "time": dag.window.time}
    write_model(path, arrays, facts)


def load(path: str | os.PathLike[str]) -> StructureLearner:
    """Read a fitted model that ``model.save(path)`` or ``cosmodag fit -o path`` wrote.

    Nothing that is read can run code: the file holds numbers, names and parameter values. A
    learner that is not part of cosmodag is found if the program has defined or imported it. A
    parameter that cannot be written, such as a generator given as ``random_state``, comes back as
    None.
    """
    if Path(path).is_dir():
        path = _model_of_folder(Path(path))
    arrays, facts = read_model(path)
    try:
        return _rebuilt(path, arrays, facts)
    except CosmodagError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = f": {error}" if isinstance(error, DamagedError) else ""
        raise DataError(f"'{path}' is not a saved model, or it is damaged{reason}.") from error


def _model_of_folder(folder: Path) -> Path:
    if not (folder / MODEL).is_file():
        raise DataError(
            f"'{folder}' holds no {MODEL}: give the folder that 'cosmodag fit' wrote to."
        )
    return folder / MODEL


def _rebuilt(
    path: str | os.PathLike[str], arrays: dict[str, NDArray[Any]], facts: dict[str, Any]
) -> StructureLearner:
    """Construct a learner from the content of a file, which is checked before it is used."""
    check_facts(facts)
    facts = _with_trainings(_without_variant(facts))
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
    for name in model.idle_settings():  # earlier versions ignored values without effect
        setattr(model, name, getattr(learner, name))
    _restore(model, arrays, facts)
    check_model(model)
    return model


def _without_variant(facts: dict[str, Any]) -> dict[str, Any]:
    """Translate a file of the versions in which ``variant`` chose between two algorithms."""
    if facts["learner"] not in _HAD_VARIANTS or "variant" not in facts["parameters"]:
        return facts
    parameters = dict(facts["parameters"])
    variant, joint = parameters.pop("variant"), parameters.pop("joint", False)
    name = facts["learner"] if variant == "original" else f"Stochastic{facts['learner']}"
    learner = learner_named("NoCurlU" if joint is True else name)
    known = parameters if learner is None else learner._get_param_names()
    kept = {key: value for key, value in parameters.items() if key in known}
    return {**facts, "learner": name if learner is None else learner.__name__, "parameters": kept}


def _with_trainings(facts: dict[str, Any]) -> dict[str, Any]:
    """Translate a file of the versions in which ``restarts`` counted trainings."""
    parameters = dict(facts["parameters"])
    learner = learner_named(facts["learner"])
    known = () if learner is None else learner._get_param_names()
    if "trainings" not in known or "trainings" in parameters or "restarts" not in parameters:
        return facts
    parameters["trainings"] = parameters.pop("restarts")
    return {**facts, "parameters": parameters}


def _restore(
    model: StructureLearner, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]
) -> None:
    """Set the fitted attributes that :func:`save` wrote."""
    d, fitted = len(arrays["order"]), facts["fitted"]
    model.n_features_in_ = d
    if facts["names"] is not None:
        model.feature_names_in_ = np.array(facts["names"], dtype=object)
    raw, weights, adjacency = (_from_arrays(name, arrays, d) for name in _MATRICES)
    if raw is not None:
        model.raw_weights_ = raw
    for name in model.extra_arrays:
        if name in arrays:
            setattr(model, name, arrays[name])
    for name in (*_FACTS, *model.extra_facts):
        if name in fitted:
            setattr(model, name, fitted[name])
    window = _window(model.lags, facts)
    dag = FittedDAG(
        order=arrays["order"],
        adjacency=adjacency,
        weights=weights,
        preparation=Preparation.from_arrays(arrays),
        equations=model.equations_from(arrays),
        columns=getattr(model, "feature_names_in_", None),
        knowledge=model.knowledge,
        kinds=tuple(
            ColumnKind(one["kind"], tuple(one["levels"]), one["reason"])
            for one in facts.get("kinds", ())
        ),
        target_sets=arrays.get("target_sets_"),
        regimes=FittedRegimes.from_arrays(facts.get("regimes"), arrays),
        noise=fitted.get("noise_"),
        noise_reason=fitted.get("noise_reason_"),
        follows_units=model.order_follows_units(fitted.get("noise_")),
        residuals=arrays.get("residuals_"),
        noise_variances=arrays["noise_variances_"],
        deviations=arrays["deviations_"],
        turning_losses=arrays.get("turning_losses_"),
        window=window,
        learner=type(model).__name__,
    )
    given = None if window is None else window.past
    known = Known(dag.bounds, arrays.get("targets"), arrays.get("absent"), given)
    model.fitted_ = replace(dag, known=known)


def _window(lags: int, facts: dict[str, Any]) -> Window | None:
    """Variables and lags of a model of time series; None for other models."""
    if not lags:
        return None
    names = facts["names"]
    d, rest = divmod(len(names or ()), lags + 1)
    window = Window(tuple((names or [])[:d]), lags, **facts.get("in_time", {}))
    if rest or not d or list(window.columns) != names:
        raise DamagedError("its columns are not those of a window in time")
    return window


def _check_name(model: FittedGraph) -> None:
    """Refuse a learner that `load` could not find, or would confuse with another."""
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


def _as_arrays(name: str, weights: Any) -> dict[str, NDArray[Any]]:
    """Write a matrix, dense or sparse, as named arrays."""
    if not sparse.issparse(weights):
        return {name: weights}
    entries = sparse.coo_array(weights)
    return {
        f"{name}.tails": entries.row,
        f"{name}.heads": entries.col,
        f"{name}.data": entries.data,
    }


def _from_arrays(name: str, arrays: dict[str, NDArray[Any]], d: int) -> Any:
    """Rebuild a matrix from the arrays of :func:`_as_arrays`; None if there are none."""
    if name in arrays:
        return arrays[name]
    if f"{name}.data" not in arrays:
        return None
    places = (arrays[f"{name}.tails"], arrays[f"{name}.heads"])
    return sparse.csr_array((arrays[f"{name}.data"], places), shape=(d, d))
