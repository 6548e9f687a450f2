"""A parameter is declared once: its type, words, bounds, text and option come from one field."""

import inspect
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import pytest

from cosmodag.cli.options.fitting import LearnerOptions, RowOptions
from cosmodag.cli.options.input_options import TableOptions
from cosmodag.errors import DataError
from cosmodag.graph.constraint import CONSTRAINTS
from cosmodag.learners.declarations import Setting, declared, parameter
from cosmodag.learners.parameters import Scale
from cosmodag.learners.registry import LEARNERS
from cosmodag.learners.regression import CRITERIA
from cosmodag.model.networks import ACTIVATIONS, ARC_STRENGTHS
from cosmodag.model.objective import LOSSES


@dataclass(kw_only=True)
class First:
    rate: Setting | None = parameter("auto", "The rate. It is {rate}.", above=0.0, option="--rate")
    rounds: int = parameter(3, "How many rounds.", at_least=2)
    way: Literal["up", "down"] | None = parameter("up", "Which ``way``.")
    open: Literal["a", "b"] | str = parameter("a", "Any text.")
    curved: bool | Literal["auto"] = parameter("auto", "Whether it bends.")
    where: object = parameter(None, "A place.", type="path, optional")
    kind: ClassVar[int] = 1
    _private: int = 0

    automatic: ClassVar = {"rate": 0.25}


@dataclass(kw_only=True)
class Second(First):
    rate: Setting | None = parameter("auto", "Another text.")
    rounds: int = 5


def test_types_follow_from_annotations():
    assert {name: each.type for name, each in declared(First).items()} == {
        "rate": 'float, None or "auto"',
        "rounds": "int",
        "way": '{"up", "down", None}',
        "open": '{"a", "b"}',
        "curved": 'bool or "auto"',
        "where": "path, optional",
    }


def test_a_class_inherits_what_it_does_not_declare():
    found = declared(Second)
    assert (found["rate"].text, found["rate"].above) == ("Another text.", 0.0)
    assert found["rate"].option == "--rate"
    assert (found["rounds"].text, found["rounds"].at_least) == ("How many rounds.", 2)
    assert Second().rounds == 5
    assert declared(First)["rate"].text == "The rate. It is 0.25."
    assert declared(First)["rate"].summary == "The rate."
    assert declared(First)["way"].summary == "Which way."


@pytest.mark.parametrize(
    ("name", "right", "wrong", "sentence"),
    [
        ("rate", ("auto", None, 0.1, 2), (0.0, "0.1", True, float("nan")), "number above 0 or"),
        ("rounds", (2, 9), (1, 2.0, "3", None, True), "it must be a whole number of at least 2"),
        ("way", ("up", None), ("left", 3), "it must be one of 'up', 'down', None"),
        ("curved", (True, False, "auto"), ("yes", None, 2), "it must be True, False or 'auto'"),
        ("open", ("a", "c"), (), ""),
        ("where", (None, 3), (), ""),
    ],
)
def test_values_are_checked_by_their_declaration(name, right, wrong, sentence):
    checked = declared(First)[name]
    for value in right:
        checked.check(value)
    for value in wrong:
        with pytest.raises(DataError, match=f"^{name} is .*: .*{sentence}"):
            checked.check(value)


@pytest.mark.parametrize("entry", LEARNERS.values(), ids=lambda entry: entry.command)
def test_defaults_of_every_learner_fit_their_declarations(entry):
    learner = entry.load()
    assert list(learner.parameters) == list(inspect.signature(learner).parameters)
    for name, declaration in learner.parameters.items():
        declaration.check(getattr(learner, name))
        assert declaration.text, name


def test_words_are_those_that_the_package_implements():
    found = {
        (name, word)
        for entry in LEARNERS.values()
        for name, each in entry.load().parameters.items()
        for word in each.words
    }
    words = {name: {word for other, word in found if other == name} for name, _ in found}
    assert words["constraint"] == set(CONSTRAINTS)
    assert words["activation"] == set(ACTIVATIONS)
    assert words["arc_strength"] == set(ARC_STRENGTHS)
    assert words["criterion"] == set(CRITERIA)
    assert words["loss"] == {*LOSSES, "auto"}


def test_options_have_the_words_and_bounds_of_parameters():
    fields = {
        **inspect.signature(LearnerOptions, eval_str=True).parameters,
        **inspect.signature(RowOptions, eval_str=True).parameters,
        **inspect.signature(TableOptions, eval_str=True).parameters,
    }
    parameters = LEARNERS["Cosmo"].load().parameters
    assert get_args(Scale) == parameters["scale"].words
    for name in ("scale", "noise", "missing", "device", "refine"):
        choices = get_args(fields[name].annotation)[0]
        literal = next((part for part in get_args(choices) if get_args(part)), choices)
        expected = {"none" if word is None else word for word in parameters[name].words}
        assert set(get_args(literal)) == expected, name
    for name in ("threshold", "epochs", "trainings", "restarts", "lags"):
        (option,) = fields[name].annotation.__metadata__
        assert option.min == parameters[name].at_least, name
        assert option.help == parameters[name].summary, name
