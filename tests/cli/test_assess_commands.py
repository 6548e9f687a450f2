"""``cosmodag effect`` and ``cosmodag validate`` on a saved fit."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from cosmodag import OrderSearch
from cosmodag.cli import main

NAMES = ["rain", "sun", "growth"]


def draw(seed: int) -> pd.DataFrame:
    rain, sun, noise = np.random.default_rng(seed).normal(size=(3, 400))
    return pd.DataFrame(dict(zip(NAMES, (rain, sun, 2 * rain + sun + 0.5 * noise), strict=True)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit")
    draw(0).to_csv(folder / "data.csv", index=False)
    shuffled = draw(1).assign(note=1.0)[["growth", "note", "sun", "rain"]]
    shuffled.to_csv(folder / "new.csv", index=False)
    arguments = ["fit", str(folder / "data.csv"), "-o", str(folder / "out"), "--quiet"]
    assert main([*arguments, "--method", "order-search", "--noise", "gaussian"]) == 0
    return folder


def answer(capsys, *arguments: object) -> str:
    assert main([*map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_the_effect_is_that_of_the_model(folder, capsys):
    asked = ["effect", folder / "out", "--of", "rain", "--on", "growth"]
    from_equations = json.loads(answer(capsys, *asked, "--json"))
    model = OrderSearch(noise="gaussian", verbose=False).fit(draw(0))
    expected = model.effect("rain", "growth", bootstrap=None)
    assert from_equations["estimate"] == pytest.approx(expected.estimate, rel=1e-3)
    assert from_equations["low"] == pytest.approx(expected.low, rel=1e-2)
    with_data = json.loads(answer(capsys, *asked, "--data", folder / "data.csv", "--json"))
    assert with_data["estimate"] == pytest.approx(expected.estimate, rel=1e-6)
    text = answer(capsys, *asked, "--from", 0, "--to", 2)
    assert "Moving rain from 0 to 2 raises growth by" in text
    assert text.endswith("rain → growth\n")
    direct = json.loads(answer(capsys, *asked, "--direct", "--json"))
    assert direct["direct"]
    resampled = json.loads(
        answer(capsys, *asked, "--data", folder / "data.csv", "--bootstrap", 3, "--json")
    )
    assert resampled["interval_from"].startswith("3 fits")


def test_the_help_of_validate_says_what_top_counts(capsys):
    words = " ".join(answer(capsys, "validate", "--help").split())
    assert "Number of failed independences to print." in words


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--of", "rian", "--on", "sun"], "the nearest is 'rain'"),
        (["--of", "rain", "--on", "rain"], "two different variables"),
        (["--of", "rain", "--on", "sun", "--from", "1"], "--to"),
        (["--of", "rain", "--on", "sun", "--bootstrap", "5"], "--data"),
    ],
)
def test_what_cannot_be_answered_is_one_line(folder, capsys, more, words):
    assert main(["effect", str(folder / "out"), *more]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_a_folder_without_a_fit(tmp_path, capsys):
    for command in (["effect", str(tmp_path), "--of", "a", "--on", "b"],
                    ["validate", str(tmp_path), str(tmp_path / "data.csv")]):  # fmt: skip
        assert main(command) == 2
        assert "holds no model.safetensors" in capsys.readouterr().err


def test_a_graph_is_validated_on_new_rows_in_any_order(folder, capsys):
    asked = ["validate", folder / "out", folder / "new.csv"]
    found = json.loads(answer(capsys, *asked, "--json"))
    assert not found["rejected"]
    assert not found["same_rows"]
    assert found["tested"] == 1
    assert answer(capsys, *asked).startswith("The data do not contradict the graph")
    own = ["validate", folder / "out", folder / "data.csv"]
    assert "same rows" in answer(capsys, *own)


def test_a_graph_that_fails_is_shown(folder, capsys, tmp_path):
    wrong = draw(2)
    wrong["sun"] += wrong["rain"]
    wrong.to_csv(tmp_path / "wrong.csv", index=False)
    text = answer(capsys, "validate", folder / "out", tmp_path / "wrong.csv")
    assert "The data contradict the graph" in text
    assert "failed independences: 1, 1 shown" in text


def test_a_damaged_record_of_the_run_only_costs_the_interval(folder, capsys, tmp_path):
    (tmp_path / "model.safetensors").write_bytes(
        (folder / "out" / "model.safetensors").read_bytes()
    )
    (tmp_path / "run.json").write_text("[1, 2")
    found = json.loads(
        answer(capsys, "effect", tmp_path, "--of", "rain", "--on", "growth", "--json")
    )
    assert found["low"] is None
    assert found["estimate"] == pytest.approx(2, abs=0.2)


def test_an_unknown_level_is_answered_by_the_levels(capsys, tmp_path):
    frame = draw(4)
    frame["ward"] = np.where(frame["rain"] > 0, "b", "a")
    frame.drop(columns="rain").to_csv(tmp_path / "data.csv", index=False)
    arguments = ["fit", tmp_path / "data.csv", "-o", tmp_path / "out", "--quiet"]
    assert main([*map(str, arguments), "--method", "order-search"]) == 0
    asked = ["effect", tmp_path / "out", "--of", "ward", "--on", "growth", "--from", "a"]
    assert main([*map(str, asked), "--to", "zz"]) == 2
    error = capsys.readouterr().err
    assert "'ward' has no level 'zz', only 'a', 'b': correct this value" in error
    assert "rows" not in error


@pytest.mark.parametrize("command", ["effect", "validate"])
def test_tables_are_read_as_fit_reads_them(folder, capsys, tmp_path, command):
    gaps = draw(3)
    gaps.loc[[4, 7], "sun"] = np.nan
    gaps.T.to_csv(tmp_path / "gaps.csv", sep=";", decimal=",")
    layout = ["--transpose", "--decimal", ",", "--json"]
    table = tmp_path / "gaps.csv"
    asked = ["--of", "rain", "--on", "growth", "--data", table] if command == "effect" else [table]
    arguments = [command, folder / "out", *asked, *layout]
    assert main([*map(str, arguments)]) == 2
    assert "--missing drop" in capsys.readouterr().err
    dropped, imputed = (
        json.loads(answer(capsys, *arguments, "--missing", how)) for how in ("drop", "impute")
    )
    key = "estimate" if command == "effect" else "tested"
    assert dropped[key] == pytest.approx(imputed[key], rel=0.05)
    assert dropped != imputed


@pytest.mark.parametrize("command", ["effect", "validate"])
def test_a_variable_of_the_fit_names_no_interventions(folder, capsys, command):
    table = folder / "new.csv"
    asked = ["--of", "rain", "--on", "growth", "--data", table] if command == "effect" else [table]
    arguments = [command, folder / "out", *asked, "--interventions", "sun"]
    assert main([*map(str, arguments)]) == 2
    assert "--interventions names 'sun', which is a variable of the fit" in capsys.readouterr().err


def test_a_changed_record_of_the_run_names_no_variable_as_interventions(folder, capsys, tmp_path):
    (tmp_path / "model.safetensors").write_bytes(
        (folder / "out" / "model.safetensors").read_bytes()
    )
    (tmp_path / "run.json").write_text('{"interventions": {"column": "sun"}}')
    assert main(["validate", str(tmp_path), str(folder / "new.csv")]) == 2
    assert "names 'sun', which is a variable of the fit" in capsys.readouterr().err


def test_reading_options_need_a_table(folder, capsys):
    asked = ["effect", str(folder / "out"), "--of", "rain", "--on", "growth"]
    for option in (["--missing", "drop"], ["--no-header"], ["--interventions", "sun"]):
        assert main([*asked, *option]) == 2
        assert "--data" in capsys.readouterr().err


def test_the_column_of_interventions_is_that_of_the_fit(capsys, tmp_path):
    rows = draw(0).assign(target=["", "growth"] * 200)
    rows.loc[1::2, "growth"] = np.random.default_rng(2).normal(5, 1, 200)
    rows.to_csv(tmp_path / "data.csv", index=False)
    rows.iloc[::2].drop(columns="target").to_csv(tmp_path / "new.csv", index=False)
    arguments = [str(tmp_path / "data.csv"), "--interventions", "target", "--quiet"]
    assert (
        main(
            [
                "fit",
                *arguments,
                "-o",
                str(tmp_path / "out"),
                "--method",
                "order-search",
                "--noise",
                "gaussian",
            ]
        )
        == 0
    )
    capsys.readouterr()
    asked = ["effect", tmp_path / "out", "--of", "rain", "--on", "growth", "--json", "--data"]
    stated = answer(capsys, *asked, tmp_path / "data.csv", "--interventions", "target")
    assert main([*map(str, asked), str(tmp_path / "data.csv")]) == 0
    found = capsys.readouterr()
    assert found.out == stated
    assert json.loads(stated)["estimate"] == pytest.approx(2, abs=0.1)
    assert found.err == "note: column 'target' names the variables that were set, as in the fit.\n"
    # A table without the column has no interventions.
    assert main([*map(str, asked), str(tmp_path / "new.csv")]) == 0
    found = capsys.readouterr()
    assert json.loads(found.out)["low"] < 2
    assert found.err == "note: 'new.csv' has no column 'target': its rows count as observations.\n"
    test = ["validate", tmp_path / "out", tmp_path / "data.csv", "--json"]
    assert answer(capsys, *test) == answer(capsys, *test, "--interventions", "target")
    # Without the rows, it is not known how many count for an equation.
    assert json.loads(answer(capsys, *asked[:-1]))["low"] is None


@pytest.mark.parametrize("suffix", [".txt", ".dagitty"])
def test_the_effect_in_a_given_graph_is_a_regression(capsys, tmp_path, suffix):
    random = np.random.default_rng(0)
    e, n = random.normal(size=90), 90
    a = 0.5 * e + random.normal(size=n)
    y = 2 * a - e + random.normal(size=n)
    table = pd.DataFrame({"a": a, "z e": e, "e": y, "day": "2020-01-01"})
    table.to_csv(tmp_path / "table.csv", index=False)
    graph = tmp_path / f"g{suffix}"
    text = 'dag {\nbb="0,0,1,1"\na [exposure,pos="0,1"]\ne [outcome]\n"z e" -> a\n"z e" -> e\n'
    graph.write_text(f"{text}a -> e\n}}\n")
    asked = ["effect", tmp_path / "table.csv", "--graph", graph, "--of", "a", "--on", "e"]
    found = json.loads(answer(capsys, *asked, "--json"))
    X = np.column_stack([np.ones(n), a, e])
    coefficients, residue, *_ = np.linalg.lstsq(X, y, rcond=None)
    error = np.sqrt(residue[0] / (n - 3) * np.linalg.inv(X.T @ X)[1, 1])
    width = stats.t.ppf(0.975, n - 3) * error
    expected = [coefficients[1], coefficients[1] - width, coefficients[1] + width]
    assert [found[end] for end in ("estimate", "low", "high")] == pytest.approx(expected, abs=1e-6)
    assert (found["adjustment"], found["paths"]) == (["z e"], [["a", "e"]])
    assert found["rests_on"] == ["stated"]
    assert "It is adjusted for z e." in answer(capsys, *asked)


def test_levels_and_missing_values_of_a_given_graph(capsys, tmp_path):
    random = np.random.default_rng(0)
    site, y = np.arange(60) % 3, random.normal(size=60)
    table = pd.DataFrame({"site": site, "y": y + (site == 1)})
    table.loc[3, "y"] = np.nan
    table.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "g.dot").write_text("digraph { site -> y }")
    asked = ["effect", tmp_path / "table.csv", "--graph", tmp_path / "g.dot", "--of", "site"]
    asked += ["--on", "y", "--categorical", "site", "--from", "0", "--to", "1", "--json"]
    assert main([*map(str, asked)]) == 2
    assert "--missing drop" in capsys.readouterr().err
    found = json.loads(answer(capsys, *asked, "--missing", "drop"))
    means = table.dropna().groupby("site").y.mean()
    assert found["estimate"] == pytest.approx(means[1] - means[0], rel=1e-9)


def test_missing_values_of_the_table_are_dropped_as_in_the_fit(capsys, tmp_path):
    table = draw(0)
    table.loc[7, "rain"] = np.nan
    table.to_csv(tmp_path / "data.csv", index=False)
    arguments = ["fit", tmp_path / "data.csv", "-o", tmp_path / "out", "--method", "order-search"]
    answer(capsys, *arguments, "--missing", "drop", "--noise", "gaussian", "--quiet")
    asked = ["effect", tmp_path / "out", "--of", "rain", "--on", "growth", "--json"]
    found = json.loads(answer(capsys, *asked, "--data", tmp_path / "data.csv"))
    assert found["estimate"] == pytest.approx(json.loads(answer(capsys, *asked))["estimate"])
