"""Finishing an answer: the graph that the data support, under the noise that they support.

`cosmodag.order` searches under one score from one start. Here searches are made from several starts
and under several scores, and one result is chosen: by `refine_linear` with Gaussian noise, by
`search_non_gaussian` with noise of any shape, by `decision` between them. No learner is
imported here, and none is trained. The names are imported when first used.
"""

from typing import TYPE_CHECKING

from cosmodag.later import names_from

if TYPE_CHECKING:
    from cosmodag.refinement.non_gaussian import search_non_gaussian
    from cosmodag.refinement.refine import refine_linear

__all__ = ["refine_linear", "search_non_gaussian"]

_HOMES = {"refine_linear": "refinement.refine", "search_non_gaussian": "refinement.non_gaussian"}

__getattr__ = names_from(__name__, _HOMES)
