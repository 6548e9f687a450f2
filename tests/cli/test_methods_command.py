"""``cosmodag methods`` describes every learner as its class does."""

import ast
import json
import subprocess
import sys

import pytest

from cosmodag.cli import main
from cosmodag.cli.options.learners import read_settings
from cosmodag.errors import DataError
from cosmodag.learners.registry import LEARNERS


@pytest.mark.parametrize("entry", LEARNERS.values(), ids=lambda entry: entry.command)
def test_parameters_are_those_of_the_class(entry, capsys):
    assert main(["methods", entry.command, "--json"]) == 0
    (facts,) = json.loads(capsys.readouterr().out)
    listed = {parameter["name"]: parameter for parameter in facts["parameters"]}
    values = entry.load()().get_params(deep=False)
    assert sorted(listed) == sorted(values)
    for name, value in values.items():
        assert ast.literal_eval(listed[name]["default"]) == value, name
        assert listed[name]["type"], name
        assert len(listed[name]["meaning"]) > 12, name
        assert listed[name]["meaning"].endswith("."), name
        assert not any(mark in listed[name]["meaning"] for mark in ("`", ":class:", ":func:")), name


def test_the_list_has_every_learner(capsys):
    assert main(["methods"]) == 0
    shown = capsys.readouterr().out
    for entry in LEARNERS.values():
        assert any(
            line.startswith(entry.command + " ") and entry.summary in line
            for line in shown.splitlines()
        )


def test_one_learner_has_a_line_per_parameter(capsys):
    assert main(["methods", "cosmo"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "cosmodag.Cosmo" in lines[0]
    (line,) = [line for line in lines if line.startswith("batch_size ")]
    assert "int" in line
    assert " 64 " in line
    assert "--set" in line
    assert "Rows per step" in line
    (line,) = [line for line in lines if line.startswith("random_state ")]
    assert "--seed" in line


def test_options_it_names_are_options_of_fit(capsys):
    parameters = [each for entry in LEARNERS.values() for each in entry.load().parameters.values()]
    named = {each.option for each in parameters} - {None}
    main(["fit", "--help"])
    shown = capsys.readouterr().out.split()
    assert named <= set(shown)
    with_option = {f"--{each.name.replace('_', '-')}" for each in parameters} & set(shown)
    assert {"--missing", "--kinds", "--max-time"} <= with_option <= named


def test_json(capsys):
    assert main(["methods", "dagma", "--json"]) == 0
    (facts,) = json.loads(capsys.readouterr().out)
    assert facts["class"] == "cosmodag.Dagma"
    assert {"name", "type", "default", "meaning", "option"} == set(facts["parameters"][0])
    assert main(["methods", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(LEARNERS)


def test_a_method_that_is_not_there_is_one_line(capsys):
    assert main(["methods", "oracle"]) == 2
    error = capsys.readouterr().err
    assert "'oracle'" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "heavy"),
    [
        (["methods"], ("jax", "numba", "pandas", "sklearn")),
        (["fit", "--help"], ("jax", "numba", "pandas", "sklearn")),
        (["methods", "cosmo"], ("jax", "numba")),  # the class is imported
    ],
)
def test_it_imports_nothing_heavy(command, heavy):
    code = (
        f"import sys; from cosmodag.cli import main; main({command})\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_settings_are_read_as_what_they_look_like():
    assert read_settings(["a=1", "b-c=1e-3", "d=none", "e=True", "f=10,5", "g=(3,)", "h=x,y"]) == {
        "a": 1, "b_c": 1e-3, "d": None, "e": True, "f": (10, 5), "g": (3,), "h": "x,y",
    }  # fmt: skip
    with pytest.raises(DataError, match="given twice by --set"):
        read_settings(["a=1", "a=2"])
