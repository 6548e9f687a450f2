"""The docstring of a learner describes every parameter, including inherited ones."""

import inspect
import re
from dataclasses import dataclass
from inspect import getattr_static
from typing import NamedTuple

import numpy as np
import pytest

from cosmodag.bench.stochastic_learners import StochasticDagma
from cosmodag.learners import EmptyGraph
from cosmodag.learners.declarations import parameter
from cosmodag.learners.registry import LEARNERS


class Described(NamedTuple):
    """Type and text of one entry in a section of a docstring."""

    type: str
    text: str


def described(docstring: str, title: str) -> dict[str, Described]:
    """Parse a section of a numpydoc docstring into the type and text of each name."""
    section = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", docstring, re.M | re.S)
    found: dict[str, Described] = {}
    heads = re.findall(r"^(\S.*)\n?((?:[ \t]+.*\n?|\n)*)", section[1], re.M) if section else ()
    for head, text in heads:
        names, _, type_ = head.partition(" : ")
        for name in names.split(","):
            assert name.strip() not in found
            found[name.strip()] = Described(type_.strip(), text.rstrip())
    return found


@pytest.mark.parametrize("entry", LEARNERS.values(), ids=lambda entry: entry.command)
def test_help_describes_the_parameters_of_the_class_and_no_others(entry):
    learner = entry.load()
    parameters = described(inspect.cleandoc(learner.__doc__), "Parameters")
    assert sorted(parameters) == sorted(learner().get_params(deep=False))
    assert all(entry.type and entry.text for entry in parameters.values())
    attributes = described(inspect.cleandoc(learner.__doc__), "Attributes")
    assert {"adjacency_", "causal_order_", "stopped_"} <= set(attributes)


@pytest.mark.parametrize("entry", LEARNERS.values(), ids=lambda entry: entry.command)
def test_help_has_the_values_that_auto_stands_for(entry):
    learner = entry.load()
    parameters = described(inspect.cleandoc(learner.__doc__), "Parameters")
    for name, value in getattr(learner, "automatic", {}).items():
        if learner().get_params()[name] == "auto":
            assert f"{value:g}" in parameters[name].text
    assert not any("{" in entry.text for entry in parameters.values())


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
@pytest.mark.parametrize("entry", LEARNERS.values(), ids=lambda entry: entry.command)
def test_every_attribute_of_a_fit_is_described(entry):
    learner = entry.load()
    short = {"epochs": 1, "max_iter": 1, "random_state": 0, "verbose": False}
    given = {name: short[name] for name in short.keys() & learner().get_params().keys()}
    model = learner(**given).fit(np.random.default_rng(0).normal(size=(30, 3)))
    declared = {name for kind in learner.__mro__ for name in inspect.get_annotations(kind)}
    attributes = {
        name
        for name in {*dir(learner), *declared, *vars(model)}
        if name.endswith("_") and not name.startswith("_")
    }
    properties = {
        name for name in attributes if isinstance(getattr_static(learner, name, None), property)
    }
    assert all(inspect.getdoc(getattr_static(learner, name)) for name in properties)
    listed = described(inspect.cleandoc(learner.__doc__), "Attributes")
    assert attributes - properties <= set(listed)
    assert set(listed) <= attributes


@pytest.mark.parametrize(
    ("name", "attribute", "words"),
    [
        ("CosmoMLP", "history_", "log_acyclicity_bound"),
        ("NotearsMLP", "history_", "multiplier"),
        ("DagmaMLP", "history_", "radius"),
    ],
)
def test_the_description_of_the_most_specific_base_wins(name, attribute, words):
    learner = LEARNERS[name].load()
    assert words in described(inspect.cleandoc(learner.__doc__), "Attributes")[attribute].text


def test_a_seed_is_described_by_the_class_that_uses_it():
    text = described(inspect.cleandoc(StochasticDagma.__doc__), "Parameters")["random_state"].text
    assert "order of rows" in text


@dataclass(kw_only=True, eq=False, repr=False)
class Child(EmptyGraph):
    """A child.

    Attributes
    ----------
    raw_weights_ : array
        Nothing but zeros.

    Examples
    --------
    >>> 1
    1
    """

    threshold: float = parameter(0.5, "Another threshold. Nothing uses it.")
    scale: str = "none"
    size: int = parameter(2, "The size, at first {size}.", at_least=1)

    automatic = {"size": 2}  # noqa: RUF012


def test_a_class_replaces_the_descriptions_of_its_bases():
    found = described(Child.__doc__, "Parameters")
    assert found["threshold"] == ("float", "    Another threshold. Nothing uses it.")
    assert found["size"] == ("int", "    The size, at first 2.")
    assert "Subtract the column means" in found["scale"].text
    attributes = described(Child.__doc__, "Attributes")
    assert attributes["raw_weights_"] == ("array", "    Nothing but zeros.")
    assert "causes first" in attributes["causal_order_"].text
    order = [Child.__doc__.index(f"\n{title}\n-") for title in SECTIONS]
    assert order == sorted(order)
    assert Child.__doc__.endswith(">>> 1\n1")
    assert Child(size=3).size == 3


SECTIONS = ("Parameters", "Attributes", "Examples")


def test_a_parameter_that_is_not_declared_is_described_by_the_docstring():
    @dataclass(kw_only=True, eq=False, repr=False)
    class Wide(EmptyGraph):
        """A learner of somebody else.

        Parameters
        ----------
        depth : int
            How deep.
        """

        depth: int = 1
        width: int = 1

    found = described(Wide.__doc__, "Parameters")
    assert found["depth"] == ("int", "    How deep.")
    assert found["width"] == ("int", "")
    assert Wide.__doc__.count("Parameters\n---") == 1


def test_a_class_without_a_docstring_keeps_none():
    class Quiet(EmptyGraph):
        pass

    assert Quiet.__doc__ is None
