"""``cosmodag fit --lags``: columns of times and series, and the written window graph."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cosmodag
from cosmodag.cli import main


@pytest.fixture
def table(tmp_path: Path) -> Path:
    frames = []
    for label in range(3):
        X = np.random.default_rng(label).normal(size=(80, 2))
        X[1:, 1] += 2 * X[:-1, 0]
        frame = pd.DataFrame(X, columns=["dose", "level"])
        frame.insert(0, "date", pd.date_range("2024-01-01", periods=80).strftime("%Y-%m-%d"))
        frame["patient"] = f"p{label}"
        frames.append(frame.drop(index=40))
    path = tmp_path / "panel.csv"
    pd.concat(frames).sample(frac=1.0, random_state=0).to_csv(path, index=False)
    return path


def fit(*arguments: object) -> int:
    return main(["fit", *map(str, arguments), "--method", "order-search"])


def test_dates_and_series_are_columns_and_no_variables(table, tmp_path, capsys):
    out = tmp_path / "out"
    options = ("--lags", 1, "--time", "date", "--series", "patient", "--format", "dot")
    assert fit(table, "-o", out, *options) == 0
    assert "dose[t-1]" in capsys.readouterr().out
    run = json.loads((out / "run.json").read_text())
    # Of the 79 rows of a series, the first and the one after the gap have no previous row.
    assert (run["rows"], run["variables"], run["lags"]) == (3 * 77, 2, 1)
    assert (run["time"], run["series"]) == ("date", "patient")
    summary = pd.read_csv(out / "summary.csv")
    assert summary[["cause", "effect", "lag"]].to_numpy().tolist() == [["dose", "level", 1]]
    assert summary["weight"].item() == pytest.approx(2, abs=0.3)
    edges = pd.read_csv(out / "edges.csv").dropna(subset="effect")
    assert edges[["cause", "effect", "basis"]].to_numpy().tolist() == [
        ["dose[t-1]", "level", "time"]
    ]
    assert "dose[t-1]" in (out / "graph.dot").read_text()
    model = cosmodag.load(out / "model.safetensors")
    assert model.lagged_weights_.shape == (2, 2, 2)
    assert main(["report", str(out)]) == 0


def test_a_dry_run_is_about_the_windows_and_their_knowledge(table, tmp_path, capsys):
    options = ["--time", "date", "--series", "patient", "--dry-run", "--json", "--epochs", "2"]
    given = ["fit", str(table), "--method", "cosmo", "--lags", "2", *options]
    assert main(given) == 0
    planned = json.loads(capsys.readouterr().out)
    X = pd.read_csv(table)
    model = cosmodag.Cosmo(epochs=2, lags=2, random_state=0)
    assert planned["memory"] == model.estimate(X, time="date", series="patient").plan.memory


def test_the_effect_of_a_window_is_a_response_over_time(table, tmp_path, capsys):
    out = tmp_path / "out"
    assert fit(table, "-o", out, "--lags", 1, "--time", "date", "--series", "patient") == 0
    capsys.readouterr()
    assert main(["effect", str(out), "--of", "dose", "--on", "level", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = told["responses"]
    assert found[0] == 0
    assert found[1] == pytest.approx(2, abs=0.3)
    assert not any(found[2:])
    assert told["low"][1] < 2 < told["high"][1]
    assert told["high"][1] - told["low"][1] < 0.8
    assert main(["effect", str(out), "--of", "dose", "--on", "level"]) == 0
    assert f"1: +{found[1]:.4g}, +{told['low'][1]:.4g} to +" in capsys.readouterr().out
    assert main(["effect", str(out), "--of", "dose", "--on", "level", "--direct"]) == 2
    assert "leave --data, --direct" in capsys.readouterr().err


def test_missing_values_break_the_lag(table, tmp_path):
    frame = pd.read_csv(table)
    first = (frame["patient"] == "p0") & (frame["date"] == "2024-01-11")
    frame.loc[first, "level"] = np.nan
    frame.to_csv(table, index=False)
    options = ("--lags", 1, "--time", "date", "--series", "patient", "--missing", "drop")
    assert fit(table, "-o", tmp_path / "out", *options) == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["rows"] == 3 * 77 - 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--time", "date", "--series", "patient"), "only with lags (--lags)"),
        (("--lags", 1, "--time", "date", "--drop", "patient"), "same time"),
        (("--lags", 1, "--time", "date", "--series", "date"), "is named by --time and by --series"),
        (("--lags", 1, "--time", "dates", "--series", "patient"), "the nearest is 'date'"),
        (("--lags", 99, "--time", "date", "--series", "patient"), "take fewer lags"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(table, tmp_path, capsys, options, message):
    assert fit(table, "-o", tmp_path / "out", *options) == 2
    assert message in capsys.readouterr().err


def test_blocks_learn_from_rows_in_time(table, tmp_path):
    frame = pd.read_csv(table)
    frame["mood"] = np.where(
        frame["level"] > 1, "high", np.where(frame["level"] < -1, "low", "mid")
    )
    frame.to_csv(table, index=False)
    options = ("--lags", 1, "--time", "date", "--series", "patient", "--method", "block-search")
    assert main(["fit", str(table), "-o", str(tmp_path / "out"), *map(str, options)]) == 0
    summary = pd.read_csv(tmp_path / "out" / "summary.csv")
    arcs = summary[["cause", "effect", "lag"]].to_numpy().tolist()
    assert ["dose", "level", 1] in arcs
    assert ["level", "mood", 0] in arcs or ["mood", "level", 0] in arcs
    assert main(["report", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Which variable acts on which, and when" in page
