"""Refinement: the graph that the data support, under the noise model that they support.

`cosmodag.order` searches with one score from one start. The functions of this package search from
several starts and with several scores, and choose one result: `refine_linear` for Gaussian noise,
`search_non_gaussian` for noise of any shape, and `decision.decide_noise` between the two. No
learner is imported or trained here. The names are imported on first use.
"""

from typing import TYPE_CHECKING

from cosmodag.later import names_from

if TYPE_CHECKING:
    from cosmodag.refinement.non_gaussian import search_non_gaussian
    from cosmodag.refinement.refine import refine_linear

__all__ = ["refine_linear", "search_non_gaussian"]

_HOMES = {"refine_linear": "refinement.refine", "search_non_gaussian": "refinement.non_gaussian"}

__getattr__ = names_from(__name__, _HOMES)
