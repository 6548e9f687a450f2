"""Learners by the names the command line gives them, made from its options."""

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.learners import StructureLearner

__all__ = ["Method", "make_learner", "read_settings"]


class Method(StrEnum):
    """Learners the command line offers."""

    COSMO = "cosmo"
    COSMO_MLP = "cosmo-mlp"
    NOTEARS = "notears"
    NOTEARS_MLP = "notears-mlp"
    DAGMA = "dagma"
    DAGMA_MLP = "dagma-mlp"
    NOCURL = "nocurl"
    VARIANCE_SORT = "variance-sort"
    R2_SORT = "r2-sort"
    RANDOM_SORT = "random-sort"
    EQUAL_VARIANCE = "equal-variance"


_CLASSES = {
    Method.COSMO: "Cosmo",
    Method.COSMO_MLP: "CosmoMLP",
    Method.NOTEARS: "Notears",
    Method.NOTEARS_MLP: "NotearsMLP",
    Method.DAGMA: "Dagma",
    Method.DAGMA_MLP: "DagmaMLP",
    Method.NOCURL: "NoCurl",
    Method.VARIANCE_SORT: "VarianceSort",
    Method.R2_SORT: "R2Sort",
    Method.RANDOM_SORT: "RandomSort",
    Method.EQUAL_VARIANCE: "EqualVariance",
}


def make_learner(
    method: Method, options: dict[str, Any], settings: dict[str, Any], seed: int
) -> "StructureLearner":
    """Make a learner from the options that were given, refusing what it does not have.

    Parameters
    ----------
    method : Method
    options : dict
        Parameters with an option of their own; those that are None were not given.
    settings : dict
        Parameters given by ``--set``.
    seed : int
        Taken by learners that draw at random.
    """
    import cosmodag

    learner = getattr(cosmodag, _CLASSES[method])
    known = learner._get_param_names()
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in known:
            option = "--" + name.replace("_", "-")
            raise DataError(f"{option} is no option of {method.value}: leave it out.")
    for name in settings:
        if name not in known:
            raise DataError(
                f"--set names '{name}', which is no parameter of {method.value}: it has "
                f"{', '.join(known)}."
            )
    start = {"random_state": seed} if "random_state" in known else {}
    model: StructureLearner = learner(**start, **given, **settings)
    return model


def read_settings(assignments: list[str]) -> dict[str, Any]:
    """Read NAME=VALUE pairs; a value that is a number, true, false or none is taken as such."""
    settings: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals or not name:
            raise DataError(
                f"--set takes NAME=VALUE, such as lambda1=1e-3, but got '{assignment}'."
            )
        settings[name.strip().replace("-", "_")] = _value(text.strip())
    return settings


def _value(text: str) -> Any:
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
