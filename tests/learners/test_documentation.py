"""The docstring of a learner describes every parameter, including inherited ones."""

import inspect
from inspect import getattr_static

import numpy as np
import pytest

from cosmodag.bench.stochastic_learners import StochasticDagma
from cosmodag.learners.registry import LEARNERS, described, inherit_descriptions


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


class Base:
    """A base.

    Parameters
    ----------
    a, b : int
        Numbers.
    c : str
        Not a field of anything.
    """

    a: int = 1
    b: int = 2


class Child(Base):
    """A child.

    Parameters
    ----------
    b : float
        Another number.

    Examples
    --------
    >>> 1
    1
    """


def test_a_class_replaces_the_descriptions_of_its_bases():
    inherit_descriptions(Child)
    found = described(Child.__doc__, "Parameters")
    assert {name: entry.type for name, entry in found.items()} == {"b": "float", "a": "int"}
    assert Child.__doc__.index("Numbers.") < Child.__doc__.index("Examples")


def test_a_section_is_inserted_before_the_examples():
    class Quiet(Base):
        """Quiet.

        Examples
        --------
        >>> 1
        1
        """

    inherit_descriptions(Quiet)
    assert list(described(Quiet.__doc__, "Parameters")) == ["a", "b"]
    assert Quiet.__doc__.rstrip().endswith(">>> 1\n1")
