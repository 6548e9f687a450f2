"""``fit --bootstrap``, the default and ``--missing impute``."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cosmodag import simulate
from cosmodag.cli import main
from cosmodag.io.graphs import read_graph


@pytest.fixture
def table(tmp_path: Path) -> Path:
    data = simulate.load("n200_d5_ER1_gauss", seed=0)
    frame = pd.DataFrame(data.X, columns=["a", "b,c", "d", "e", "f"])
    frame.to_csv(tmp_path / "table.csv", index=False)
    frame.iloc[4, 1] = np.nan
    frame.to_csv(tmp_path / "holed.csv", index=False)
    return tmp_path / "table.csv"


def fit(*arguments: object) -> int:
    return main(["fit", *map(str, arguments)])


def facts(folder: Path) -> dict[str, object]:
    return json.loads((folder / "run.json").read_text())


def test_arcs_have_probabilities(table, tmp_path, capsys):
    out = tmp_path / "out"
    assert fit(table, "-o", out, "--bootstrap", 8) == 0
    edges = pd.read_csv(out / "edges.csv").dropna(subset="effect")
    columns = ["cause", "effect", "weight", "standardised", "se", "t", "basis", "grade", "class"]
    assert list(edges.columns) == [*columns, "p_edge", "p_direction", "shares"]
    assert edges["p_edge"].between(0, 1).all()
    assert (edges["p_direction"] <= edges["p_edge"]).all()
    every = pd.read_csv(out / "bootstrap.csv")
    assert every["joined"].max() == edges["p_edge"].max() == 1
    assert "p_direction" in capsys.readouterr().out
    assert facts(out)["bootstrap"]["done"] == 8
    assert read_graph(out / "edges.csv").names


def test_the_default_says_which_family_it_kept_and_why(table, tmp_path, capsys):
    assert fit(table, "-o", tmp_path / "out") == 0
    assert "Lines with normal noise are not contradicted" in capsys.readouterr().out
    found = facts(tmp_path / "out")
    assert found["method"] == "auto"
    assert [(one["family"], one["kept"]) for one in found["families"]] == [("lines", True)]
    assert found["refuted"] == []


@pytest.mark.parametrize(
    ("options", "named"), [(["--noise", "gaussian"], "--noise"), (["--set", "lambda1=1"], "--set")]
)
def test_the_default_takes_no_options_of_its_parts(table, tmp_path, capsys, options, named):
    assert fit(table, "-o", tmp_path / "out", *options) == 2
    assert named in capsys.readouterr().err


def test_missing_values_are_filled_in(table, tmp_path, capsys):
    holed = table.with_name("holed.csv")
    assert fit(holed, "-o", tmp_path / "out") == 2
    message = capsys.readouterr().err
    assert "'b,c'" in message
    assert "--missing drop" in message
    assert "--missing impute" in message
    assert fit(holed, "-o", tmp_path / "out", "--missing", "impute") == 0
    found = facts(tmp_path / "out")
    assert found["rows"] == 200
    assert found["missing"]["columns"] == {"b,c": 1}
    assert fit(holed, "-o", tmp_path / "out", "--missing", "drop") == 0
    assert facts(tmp_path / "out")["rows"] == 199
