"""Checks that a file is one that `save` could have written.

A file may be damaged, or crafted to do harm. Its content is never run as code, and is used only
after these checks: types, shapes, numbers, and that the graph is a DAG in the given order.
"""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.regime_table import CHANGES
from cosmodag.io.kind_names import KINDS

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG


class DamagedError(ValueError):
    """Content that `save` does not write; the message says what is wrong with the file."""


_WITH_LEARNER = {"learner": str, "parameters": dict, "fitted": dict}
_WITHOUT_LEARNER = {"fitted_dag": dict, "fitted": dict}


def check_facts(facts: Any) -> None:
    """Check the facts of a saved model before any of them is used."""
    _require(isinstance(facts, dict), "its facts are not a mapping")
    try:
        json.dumps(facts, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:  # lone surrogates, which cannot be written to a file
        raise DamagedError("a text is not valid Unicode") from error
    expected = _WITHOUT_LEARNER if "fitted_dag" in facts else _WITH_LEARNER
    for name, kind in expected.items():
        _require(isinstance(facts.get(name), kind), f"{name!r} is missing")
    if "fitted_dag" in facts:
        _check_own(facts["fitted_dag"])
    for names in (facts.get("names"), facts.get("regimes")):
        if names is not None:
            _require(isinstance(names, list), "its names are not a list")
            _require(all(isinstance(name, str) for name in names), "a name is not a text")
            _require(len(set(names)) == len(names), "a name occurs twice")
    in_time, kinds = facts.get("in_time", {}), facts.get("kinds", [])
    is_mapping = isinstance(in_time, dict) and set(in_time) <= {"series", "time"}
    _require(is_mapping, "'in_time' is not a mapping")
    are_names = all(name is None or isinstance(name, str) for name in in_time.values())
    _require(are_names, "the column of times or series has no name")
    are_kinds = isinstance(kinds, list) and all(map(_is_kind, kinds))
    _require(are_kinds, "the kind of a column is unknown")


def _check_own(facts: dict[str, Any]) -> None:
    """Check the facts that a file without a learner has instead of parameters."""
    lags, known = facts.get("lags"), facts.get("knowledge")
    _require(isinstance(facts.get("learner"), str), "the name of its learner is missing")
    _require(type(lags) is int and lags >= 0, "its lags are not a whole number")
    _require(isinstance(facts.get("follows_units"), bool), "'follows_units' is missing")
    _require(known is None or isinstance(known, dict), "its knowledge is not a mapping")
    equations = facts.get("equations")
    _require(isinstance(equations, dict), "its equations are missing")
    leaves = [leaf for value in _entries(equations) for leaf in _leaves(value)]
    _require(all(map(_is_plain, leaves)), "its equations have values of a wrong type")


def _is_kind(value: Any) -> bool:
    """Whether a value describes the kind of a column."""
    return (
        isinstance(value, dict)
        and value.get("kind") in KINDS
        and isinstance(value.get("reason"), str)
        and isinstance(value.get("levels"), list)
        and all(level is not None and _is_plain(level) for level in value["levels"])
    )


# Integers must be smaller than this, so that a float can represent them.
_HUGE = 1e300

# Entries of records that must be numbers.
_NUMBERS = {"after", "before", "changed", "entries", "moves", "rounds", "rows", "seconds", "share"}


def _is_number(value: Any) -> bool:
    """Whether a value is a float, or an integer that a float can represent."""
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) < _HUGE
    return isinstance(value, float)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | bool) or _is_number(value)


def _is_record(value: Any, *needed: str) -> bool:
    """Whether a value is a mapping of names to plain values, or to lists or mappings of them."""
    return (
        isinstance(value, dict)
        and all(name in value for name in needed)
        and all(
            _is_number(entry) if name in _NUMBERS else all(map(_is_plain, _entries(entry)))
            for name, entry in value.items()
        )
    )


def _entries(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else [value]


def _leaves(value: Any) -> list[Any]:
    """Entries of a list or mapping, with nested lists and mappings replaced by their entries."""
    return [leaf for entry in _entries(value) for leaf in _entries(entry)]


def _are_numbers(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_number, value.values()))


_KINDS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(
        ("stopped_", "refinement_", "noise_"), lambda value: value is None or isinstance(value, str)
    ),
    **dict.fromkeys(
        ("noise_reason_", "curves_reason_", "backend_"), lambda value: isinstance(value, str)
    ),
    **dict.fromkeys(("was_cyclic_", "converged_"), lambda value: isinstance(value, bool)),
    **dict.fromkeys(
        ("dropped_arcs_", "n_iter_"), lambda value: isinstance(value, int) and _is_number(value)
    ),
    **dict.fromkeys(("noise_scores_", "settings_"), _are_numbers),
    "history_": lambda value: isinstance(value, list) and all(map(_are_numbers, value)),
    "refine_report_": lambda value: (
        isinstance(value, list) and all(_is_record(record, "start") for record in value)
    ),
    "missing_report_": lambda value: _is_record(value, "entries", "share"),
}
"""Checks of fitted attributes, by name; those of learners defined elsewhere are not checked."""


def check_values(facts: dict[str, Any]) -> None:
    """Check the values of parameters and fitted attributes: types, and magnitudes of numbers."""
    for name, value in facts.get("parameters", {}).items():
        may_nest = name == "kinds"  # a mapping of columns to kinds, or to lists of levels
        entries = _leaves(value) if may_nest else _entries(value)
        is_plain = all(map(_is_plain, entries)) and (may_nest or not isinstance(value, dict))
        allowed = name == "knowledge" or is_plain
        _require(allowed, f"its parameter {name!r} has a value of a wrong type")
    _require("fitted_dag" in facts or "stopped_" in facts["fitted"], "'stopped_' is missing")
    for name, value in facts["fitted"].items():
        kind = _KINDS.get(name)
        _require(kind is None or kind(value), f"{name!r} has a value of a wrong type")


def check_arrays(arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> None:
    """Check order, preparation, matrices and residuals: types, shapes and numbers."""
    order = _array(arrays, "order", "iu", (None,))
    d = len(order)
    _require(bool(np.array_equal(np.sort(order), np.arange(d))), "its order is not a permutation")
    _require(facts["names"] is None or len(facts["names"]) == d, "names and order differ in length")
    _require(len(facts.get("kinds") or range(d)) == d, "kinds and order differ in length")
    for name in ("means", "factors", "noise_variances_", "deviations_"):
        _array(arrays, name, "f", (d,))
    _array(arrays, "unit", "f", (1,))
    _array(arrays, "constant", "b", (d,))
    for name in ("factors", "unit"):
        _require(bool((arrays[name] > 0).all()), f"{name!r} is not positive")
    for name in ("noise_variances_", "deviations_"):
        _require(bool((arrays[name] >= 0).all()), f"{name!r} is negative")
    for name in ("raw_weights_", "weights_", "adjacency_"):
        _check_matrix(arrays, name, d)
    n = len(arrays.get("residuals_", ()))
    for name, kind, rows in (
        ("residuals_", "f", n),
        ("targets", "b", n),
        ("absent", "b", n),
        ("target_sets_", "b", None),
    ):
        if name in arrays:
            _array(arrays, name, kind, (rows, d))
    if "turning_losses_" in arrays:  # NaN where there is no arc
        _array(arrays, "turning_losses_", "f", (d, d), finite=False)
    if facts.get("regimes") is not None:
        _check_regimes(arrays, len(facts["regimes"]), d)


def _check_regimes(arrays: dict[str, NDArray[Any]], k: int, d: int) -> None:
    """Check the targets of k regimes, the evidence for them, and their own equations."""
    for name, kinds, shape in (
        ("rows", "iufb", (k,)),
        ("price", "iufb", (1,)),
        ("stated", "b", (k, d)),
        ("targets", "b", (k, d)),
        ("evidence", "iufb", (k, d)),
        ("changes", "iu", (k, d)),
    ):
        _array(arrays, f"regime_{name}", kinds, shape)
    targets = int(np.count_nonzero(arrays["regime_targets"]))
    parameters = _array(arrays, "regime_parameters", "iufb", (targets, d + 2))
    _require(bool((parameters[:, -1] > 0).all()), "a deviation is not positive")
    changes = arrays["regime_changes"]
    is_known = (changes >= 0) & (changes < len(CHANGES))
    _require(bool(is_known.all()), "a change of a regime is unknown")


def _check_matrix(arrays: dict[str, NDArray[Any]], name: str, d: int) -> None:
    """Check a matrix, dense or sparse; the graph must be there."""
    if name in arrays:
        _array(arrays, name, "f", (d, d))
    elif f"{name}.data" in arrays:
        values = _array(arrays, f"{name}.data", "f", (None,))
        for end in ("tails", "heads"):
            places = _array(arrays, f"{name}.{end}", "iu", values.shape)
            inside = not places.size or (places.min() >= 0 and places.max() < d)
            _require(bool(inside), f"{name!r} names a variable that does not exist")
    else:
        _require(name != "adjacency_", "it has no graph")


def check_dag(dag: "FittedDAG") -> None:
    """Check a loaded graph: its arcs must agree with its order, and it must predict."""
    d = dag.d
    places = np.empty(d, np.intp)
    places[dag.order] = np.arange(d)
    edges = sparse.coo_array(dag.adjacency)
    _require(bool((places[edges.row] < places[edges.col]).all()), "its arcs contradict its order")
    counted = dag.known.counted
    _require(counted is None or bool(counted.any(axis=0).all()), "a variable has no residuals")
    predicted = dag.predict_prepared(np.zeros((1, d)))
    _require(np.shape(predicted) == (1, d), "it predicts another number of variables")


def _array(
    arrays: dict[str, NDArray[Any]],
    name: str,
    kinds: str,
    shape: tuple[int | None, ...],
    *,
    finite: bool = True,
) -> NDArray[Any]:
    """Return an array after checking its type and shape (None: any length), and its numbers."""
    array = arrays.get(name)
    _require(array is not None, f"{name!r} is missing")
    assert array is not None
    _require(array.dtype.kind in kinds, f"{name!r} is of type {array.dtype}")
    fits = array.ndim == len(shape) and all(
        expected is None or length == expected
        for length, expected in zip(array.shape, shape, strict=True)
    )
    _require(fits, f"{name!r} has a wrong shape")
    is_float = array.dtype.kind == "f"
    _require(not (finite and is_float) or bool(np.isfinite(array).all()), f"{name!r} is not finite")
    return array


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise DamagedError(otherwise)
