"""``cosmodag fit`` on realistic tables and folders."""

import gzip
import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cosmodag.cli import main
from cosmodag.io import read_graph

QUICK = ["--method", "variance-sort"]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    random = np.random.default_rng(0)
    dose = random.normal(size=50)
    frame = pd.DataFrame({"id": [f"p{row}" for row in range(50)], "dose, mg": dose})
    frame = frame.assign(level=2 * dose + random.normal(size=50), still=1.0)
    frame.to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "t.csv"


def fit(*arguments: str) -> int:
    return main(["fit", *arguments, "-o", "out", *QUICK])


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--drop", "id"], ["dose, mg", "level", "still"]),
        (["--drop", "id", "--drop", "still"], ["dose, mg", "level"]),
        (["--drop", "id,st*"], ["dose, mg", "level"]),
        (["--columns", "level,dose, mg"], ["dose, mg", "level"]),
    ],
)
@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_columns_are_chosen(table, options, names):
    assert fit("t.csv", *options) == 0
    assert list(read_graph("out/graph.graphml").names) == names
    assert main(["diagnose", "t.csv", *options]) == 0


def test_a_column_that_is_not_there_is_one_line_with_its_nearest(table, capsys):
    assert fit("t.csv", "--drop", "ID,levle") == 2
    assert capsys.readouterr().err == "error: 't.csv' has no column 'ID': the nearest is 'id'.\n"
    assert not Path("out").exists()


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input(table, monkeypatch, packed):
    content = table.read_bytes()
    content = gzip.compress(content) if packed else content
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert fit("-", "--drop", "id,still") == 0
    assert json.loads(Path("out/run.json").read_text())["table"] == "-"


def test_formats_beside_the_usual_ones(table, capsys):
    formats = ["graphml", "gml", "dot", "dagitty", "edges", "adjacency", "json"]
    options = [word for name in formats for word in ("--format", name)]
    assert fit("t.csv", "--drop", "id,still", "--json", *options) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert {"gml", "dot", "dagitty", "json"} <= set(files)
    graphs = [
        read_graph(f"out/graph.{end}") for end in ("graphml", "gml", "dot", "dagitty", "json")
    ]
    assert all(graph == graphs[0] for graph in graphs)
    assert graphs[0] == read_graph("out/adjacency.csv")


def test_a_name_that_a_format_cannot_hold_is_refused_before_the_fit(table, capsys):
    frame = pd.read_csv(table).rename(columns={"level": 'the "level"'})
    frame.to_csv(table, index=False)
    assert fit("t.csv", "--drop", "id,still", "--format", "dagitty") == 2
    assert "DAGitty does not allow" in capsys.readouterr().err
    assert not Path("out").exists()


def test_quiet_says_nothing_and_keeps_the_warnings(table, capsys):
    assert fit("t.csv", "--drop", "id", "--quiet") == 0
    assert capsys.readouterr() == ("", "")
    (warning,) = json.loads(Path("out/run.json").read_text())["warnings"]
    assert "'still'" in warning
    assert fit("t.csv", "--drop", "id", "--quiet", "--json") == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert json.loads(printed.out)["warnings"] == [warning]
    assert fit("t.csv", "--drop", "zz", "--quiet") == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_an_earlier_fit_in_the_folder_is_replaced_and_said_so(table, capsys):
    assert fit("t.csv", "--drop", "id,still") == 0
    assert "earlier fit" not in capsys.readouterr().err
    assert fit("t.csv", "--drop", "id,still", "--set", "criterion=none") == 0
    assert (
        capsys.readouterr().err == "note: the files of an earlier fit in 'out' will be replaced.\n"
    )
    assert json.loads(Path("out/run.json").read_text())["parameters"]["criterion"] == "none"


def test_a_folder_that_cannot_be_written_is_found_before_the_fit(table, monkeypatch, capsys):
    import tempfile

    def refuse(dir):
        raise OSError(30, "Read-only file system", f"{dir}/tmp123")

    def fail(*arguments):
        raise AssertionError("it went on to fit")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    monkeypatch.setattr("cosmodag.learners.baselines.VarianceSort.fit", fail)
    assert fit("t.csv", "--drop", "id,still") == 1
    error = capsys.readouterr().err
    assert error == "error: cannot read or write 'out': read-only file system.\n"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set", "critrion=none"], "the nearest is 'criterion'"),
        (["--metod", "cosmo"], "--method"),
        (["--format", "jpeg"], "'jpeg' is not one of 'graphml'"),
        (["--columns", "level"], "one column"),
    ],
)
def test_slips_are_one_line(table, capsys, options, words):
    assert fit("t.csv", "--drop", "id", *options) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert words in error
    assert "Value error" not in error


def test_a_single_number_does_for_a_list_of_them(table):
    options = ["--set", "hidden=3", "--epochs", "2", "--refine", "none", "--method", "cosmo-mlp"]
    assert main(["fit", "t.csv", "--drop", "id,still", "-o", "out", *options]) == 0
    assert json.loads(Path("out/run.json").read_text())["parameters"]["hidden"] == [3]


def test_a_transposed_table_with_decimal_commas(table, capsys):
    """A file with one variable per row, semicolons and decimal commas needs one option."""
    frame = pd.read_csv(table).drop(columns=["id", "still"])
    frame.T.to_csv("genes.csv", sep=";", decimal=",", index_label="gene")
    assert fit("genes.csv", "--transpose") == 0
    assert "decimals with a comma" in capsys.readouterr().err
    assert list(read_graph("out/graph.graphml").names) == ["dose, mg", "level"]
    assert main(["diagnose", "genes.csv", "--transpose", "--decimal", ","]) == 0
