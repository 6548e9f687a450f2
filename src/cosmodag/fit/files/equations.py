"""Equations of a fitted DAG in a file: named arrays, and a few facts."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from numpy.typing import NDArray

from cosmodag.errors import DataError
from cosmodag.fit.dag.equations import FittedEquations, FunctionEquations, LinearEquations
from cosmodag.fit.files.plain import as_plain, from_plain
from cosmodag.learners.registry import subclass_named

__all__ = ["equation_facts", "equations_from"]


def equations_from(arrays: dict[str, NDArray[Any]], facts: Mapping[str, Any]) -> FittedEquations:
    """Rebuild equations from what their ``arrays`` and ``facts`` gave."""
    if "mechanism" in facts:
        from cosmodag.model.mechanism import FittedMechanism

        kind = _mechanism_named(facts["mechanism"])
        if kind is None:
            raise DataError(
                f"The equations are those of a {facts['mechanism']}, which is not defined here: "
                "import the module that defines it first."
            )
        mechanism = kind(**{name: from_plain(value) for name, value in facts["values"].items()})
        found = FittedMechanism.from_arrays(mechanism, arrays, len(arrays["order"]))
        return FunctionEquations(found)
    if "activation" in facts:
        from cosmodag.learners.networks.mixed_equations import networks_from

        return networks_from(arrays, tuple(facts["hidden"]), facts["activation"])
    if "block_widths" in arrays:
        from cosmodag.fit.mixed.equations import BlockEquations

        return BlockEquations.from_arrays(arrays)
    return LinearEquations()


def equation_facts(equations: FittedEquations) -> dict[str, Any]:
    """Facts from which, with its arrays, `equations_from` rebuilds the equations."""
    if not isinstance(equations, FunctionEquations):
        return equations.facts()
    mechanism: Any = equations.functions.mechanism
    name = type(mechanism).__name__
    if _mechanism_named(name) is not type(mechanism):
        raise DataError(
            f"The graph cannot be saved without its learner: its mechanism {name} is no dataclass "
            "that inherits from Mechanism, or another has the same name: save the learner instead."
        )
    return {
        "mechanism": name,
        "values": {
            part.name: as_plain(getattr(mechanism, part.name)) for part in fields(mechanism)
        },
    }


def _mechanism_named(name: str) -> Any:
    """Find a mechanism that the program has defined; None where there is none."""
    from cosmodag.model.mechanism import Mechanism

    found = subclass_named(Mechanism, name)
    return found if is_dataclass(found) else None
