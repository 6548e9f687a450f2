"""Files of fitted DAGs: files without a learner, and the part they share with those of learners.

Arrays and most facts are the same in both. The other parts of a DAG follow from the parameters of
its learner; in a file without a learner they are the fact ``fitted_dag``.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.kinds import ColumnKind
from cosmodag.data.knowledge import Knowledge
from cosmodag.data.time.window import Window
from cosmodag.errors import CosmodagError, DataError
from cosmodag.fit.dag.assertions import Doubt
from cosmodag.fit.dag.known import Known
from cosmodag.fit.dag.linear_equations import FittedEquations, FunctionEquations, LinearEquations
from cosmodag.fit.dag.preparation import Preparation
from cosmodag.fit.dag.regime_equations import FittedRegimes
from cosmodag.fit.files.trusted import (
    DamagedError,
    check_arrays,
    check_dag,
    check_facts,
    check_values,
)
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.io.files import read_model, write_model
from cosmodag.io.files.record import check_written
from cosmodag.learners.registry import subclass_named

MODEL = "model.safetensors"
"""Name of the file with the model in a folder that ``cosmodag fit`` wrote."""
_MATRICES = ("weights", "adjacency")
_ARRAYS = ("noise_variances", "deviations", "target_sets", "turning_losses")


def as_plain(value: Any) -> Any:
    """Convert a value for JSON: NumPy numbers to Python numbers, random generators to None."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None
    if isinstance(value, Knowledge):
        return value.facts()
    if isinstance(value, dict):
        return {str(key): as_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    return value


def from_plain(value: Any) -> Any:
    """Convert a value that `as_plain` wrote: lists become tuples."""
    return tuple(value) if isinstance(value, list) else value


def as_arrays(name: str, weights: Any) -> dict[str, NDArray[Any]]:
    """Convert a matrix, dense or sparse, to named arrays; no arrays for None."""
    if weights is None:
        return {}
    if not sparse.issparse(weights):
        return {name: weights}
    entries = sparse.coo_array(weights)
    return {
        f"{name}.tails": entries.row,
        f"{name}.heads": entries.col,
        f"{name}.data": entries.data,
    }


def from_arrays(name: str, arrays: dict[str, NDArray[Any]], d: int) -> Any:
    """Rebuild a matrix from its :func:`as_arrays`; None if there are none."""
    if name in arrays:
        return arrays[name]
    if f"{name}.data" not in arrays:
        return None
    places = (arrays[f"{name}.tails"], arrays[f"{name}.heads"])
    return sparse.csr_array((arrays[f"{name}.data"], places), shape=(d, d))


def equations_from(arrays: dict[str, NDArray[Any]], facts: Mapping[str, Any]) -> FittedEquations:
    """Rebuild equations from their ``arrays`` and ``facts``."""
    if "score_noise" in arrays:
        from cosmodag.fit.dag.score_equations import ScoreEquations

        others = {name: array for name, array in arrays.items() if name != "score_noise"}
        return ScoreEquations.from_arrays(arrays, equations_from(others, facts))
    if "mechanism" in facts:
        kind = _mechanism_named(facts["mechanism"])
        if kind is None:
            raise DataError(
                f"The equations are those of a {facts['mechanism']}, which is not defined here: "
                "import the module that defines it first."
            )
        mechanism = kind(**{name: from_plain(value) for name, value in facts["values"].items()})
        return FunctionEquations.from_arrays(mechanism, arrays, len(arrays["order"]))
    if "activation" in facts:
        from cosmodag.learners.networks.network_equations import networks_from

        return networks_from(arrays, tuple(facts["hidden"]), facts["activation"])
    if "block_widths" in arrays:
        from cosmodag.fit.dag.block_equations import BlockEquations

        return BlockEquations.from_arrays(arrays)
    return LinearEquations()


def _equation_facts(equations: FittedEquations) -> dict[str, Any]:
    """Facts from which, with the arrays, `equations_from` rebuilds the equations."""
    if not isinstance(equations, FunctionEquations):
        return equations.facts()
    mechanism: Any = equations.functions.mechanism
    name = type(mechanism).__name__
    if _mechanism_named(name) is not type(mechanism):
        raise DataError(
            f"The graph cannot be saved without its learner, because its mechanism {name} is not a "
            "dataclass that inherits from Mechanism, or another mechanism has the same name: save "
            "the learner instead."
        )
    return {
        "mechanism": name,
        "values": {
            part.name: as_plain(getattr(mechanism, part.name)) for part in fields(mechanism)
        },
    }


def _mechanism_named(name: str) -> Any:
    """Find a mechanism that is defined in this program; None if there is none of that name."""
    from cosmodag.model.mechanism import Mechanism

    found = subclass_named(Mechanism, name)
    return found if is_dataclass(found) else None


def dag_arrays(dag: FittedDAG, *, residuals: bool) -> dict[str, NDArray[Any]]:
    """Arrays of a DAG, by name; with residuals, also the entries that were set or imputed."""
    arrays: dict[str, NDArray[Any]] = {"order": dag.order, **dag.preparation.arrays()}
    for name in _MATRICES:
        arrays |= as_arrays(f"{name}_", getattr(dag, name))
    kept = {f"{name}_": getattr(dag, name) for name in _ARRAYS}
    if residuals:
        # `sample` leaves out the residuals of entries that were set or imputed.
        kept |= {"residuals_": dag.residuals}
        kept |= {"targets": dag.known.targets, "absent": dag.known.absent}
    arrays |= {name: value for name, value in kept.items() if value is not None}
    arrays |= dag.equations.arrays()
    return arrays | ({} if dag.regimes is None else dag.regimes.arrays())


def dag_facts(dag: FittedDAG) -> dict[str, Any]:
    """Facts of a DAG that every file has."""
    noise = {"noise_": dag.noise, "noise_reason_": dag.noise_reason}
    facts: dict[str, Any] = {
        "names": None if dag.columns is None else list(dag.columns),
        "kinds": [kind.facts() for kind in dag.kinds],
        "regimes": None if dag.regimes is None else list(dag.regimes.names),
        "fitted": {name: value for name, value in noise.items() if value is not None},
    }
    if dag.doubts:
        facts["doubts"] = [[one.name, *one.columns] for one in dag.doubts]
    if dag.window is not None:
        facts["in_time"] = {"series": dag.window.series, "time": dag.window.time}
    return facts


def dag_from(
    arrays: dict[str, NDArray[Any]],
    facts: dict[str, Any],
    *,
    equations: FittedEquations,
    knowledge: Knowledge | None,
    lags: int,
    follows_units: bool,
    learner: str,
) -> FittedDAG:
    """Rebuild a DAG from the content of a file, and check it."""
    d, names, fitted = len(arrays["order"]), facts["names"], facts["fitted"]
    window = _window(lags, facts)
    dag = FittedDAG(
        order=arrays["order"],
        adjacency=from_arrays("adjacency_", arrays, d),
        weights=from_arrays("weights_", arrays, d),
        preparation=Preparation.from_arrays(arrays),
        equations=equations,
        columns=None if names is None else np.array(names, dtype=object),
        knowledge=knowledge,
        kinds=tuple(
            ColumnKind(one["kind"], tuple(one["levels"]), one["reason"])
            for one in facts.get("kinds", ())
        ),
        target_sets=arrays.get("target_sets_"),
        regimes=FittedRegimes.from_arrays(facts.get("regimes"), arrays),
        noise=fitted.get("noise_"),
        noise_reason=fitted.get("noise_reason_"),
        follows_units=follows_units,
        residuals=arrays.get("residuals_"),
        noise_variances=arrays["noise_variances_"],
        deviations=arrays["deviations_"],
        turning_losses=arrays.get("turning_losses_"),
        doubts=tuple(
            Doubt(str(name), tuple(map(str, columns))) for name, *columns in facts.get("doubts", ())
        ),
        window=window,
        learner=learner,
    )
    given = None if window is None else window.past
    known = Known(dag.bounds, arrays.get("targets"), arrays.get("absent"), given)
    dag = replace(dag, known=known)
    check_dag(dag)
    return dag


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


def save_dag(dag: FittedDAG, path: str | os.PathLike[str], *, residuals: bool) -> None:
    """Write a DAG without its learner; see :meth:`FittedDAG.save`."""
    own = {
        "learner": dag.learner,
        "knowledge": None if dag.knowledge is None else dag.knowledge.facts(),
        "lags": 0 if dag.window is None else dag.window.lags,
        "follows_units": dag.follows_units,
        "equations": _equation_facts(dag.equations),
    }
    arrays = dag_arrays(dag, residuals=residuals)
    write_model(path, arrays, {**dag_facts(dag), "fitted_dag": own})


def load_dag(path: str | os.PathLike[str]) -> FittedDAG:
    """Read a DAG that was saved with or without a learner; see :meth:`FittedDAG.load`."""
    arrays, facts = read_parts(path)
    with refusing_damage(path):
        if not isinstance(facts, dict) or "fitted_dag" not in facts:
            from cosmodag.fit.files.saved import learner_from

            return learner_from(path, arrays, facts).fitted_
        check_facts(facts)
        check_values(facts)
        check_arrays(arrays, facts)
        own = facts["fitted_dag"]
        return dag_from(
            arrays,
            facts,
            equations=equations_from(arrays, own["equations"]),
            knowledge=None if own["knowledge"] is None else Knowledge(**own["knowledge"]),
            lags=own["lags"],
            follows_units=own["follows_units"],
            learner=own["learner"],
        )


def read_parts(path: str | os.PathLike[str]) -> tuple[dict[str, NDArray[Any]], Any]:
    """Read arrays and facts of a file, or of the model in a folder of ``cosmodag fit``."""
    path = Path(path)
    if path.is_dir():
        if not (path / MODEL).is_file():
            raise DataError(
                f"'{path}' holds no {MODEL}: give the folder that 'cosmodag fit' wrote to."
            )
        path = path / MODEL
        check_written(path)
    return read_model(path)


@contextmanager
def refusing_damage(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors caused by the content of a file into one error that names the file."""
    try:
        yield
    except CosmodagError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = f": {error}" if isinstance(error, DamagedError) else ""
        raise DataError(f"'{path}' is not a saved model, or it is damaged{reason}.") from error
