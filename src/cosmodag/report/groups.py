"""Groups of variables, which the page shows by colour."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.fit.fitted import FittedGraph

__all__ = ["groups_of"]


def groups_of(
    model: "FittedGraph", groups: Mapping[Any, Any] | None = None
) -> tuple[list[str], list[int | None]]:
    """Give the names of the groups, and the group of each variable (None: in none).

    Parameters
    ----------
    model : fitted learner
    groups : mapping, optional
        Name of the group of each variable. By default the tiers of the model's knowledge.

    Examples
    --------
    >>> import numpy as np
    >>> from cosmodag import VarianceSort
    >>> X = np.random.default_rng(0).normal(size=(100, 3)) * [1, 2, 3]
    >>> model = VarianceSort(knowledge={"tiers": [[0], [2]]}).fit(X)
    >>> groups_of(model)
    (['tier 1', 'tier 2'], [0, None, 1])
    """
    if groups is None:
        known = getattr(model, "knowledge_", None)
        tiers = () if known is None else known.tiers
        groups = {name: f"tier {number}" for number, tier in enumerate(tiers, 1) for name in tier}
    given = {str(name): str(group) for name, group in groups.items()}
    names = [str(name) for name in model.names_]
    unknown = sorted(given.keys() - set(names))
    if unknown:
        raise DataError(f"groups names '{unknown[0]}', which is not a variable of the model.")
    found = list(dict.fromkeys(given.values()))
    places = {group: number for number, group in enumerate(found)}
    return found, [places[given[name]] if name in given else None for name in names]
