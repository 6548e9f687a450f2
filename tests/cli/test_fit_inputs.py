"""``cosmodag fit`` with knowledge and interventions."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cosmodag
from cosmodag.cli import main

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "data"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    a = random.normal(size=200)
    b = 2 * a + random.normal(size=200)
    frame = pd.DataFrame({"dose": a, "level": b, "response": b - a + random.normal(size=200)})
    frame["target"] = ["", "level", "level; response", ""] * 50
    frame.loc[::4, "dose"] *= 2
    frame.to_csv(tmp_path / "trial.csv", index=False)
    frame.to_parquet(tmp_path / "trial.parquet")
    return tmp_path / "trial.csv"


def fit(*arguments: object) -> int:
    return main(["fit", *map(str, arguments), "--method", "order-search"])


def facts_in(folder: Path) -> dict:
    return json.loads((folder / "run.json").read_text())


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_interventions_are_a_column_of_the_table(table, tmp_path, suffix, capsys):
    options = ("-o", tmp_path / "out", "--interventions", "target")
    assert fit(table.with_suffix(suffix), *options) == 0
    assert "assumed to be perfect" in capsys.readouterr().out
    facts = facts_in(tmp_path / "out")
    assert facts["variables"] == 3
    assert facts["interventions"]["column"] == "target"
    assert facts["interventions"]["targets"] == [["level"], ["level", "response"]]
    model = cosmodag.load(tmp_path / "out" / "model.safetensors")
    assert model.target_sets_.shape == (3, 3)
    edges = pd.read_csv(tmp_path / "out" / "edges.csv")
    assert set(edges["basis"].dropna()) == set(model.arrow_basis_)


def test_knowledge_is_a_file(table, tmp_path):
    known = tmp_path / "known.yaml"
    known.write_text("required_edges:\n- [response, dose]\nforbidden_edges:\n- [dose, level]\n")
    options = ("-o", tmp_path / "out", "--interventions", "target", "--knowledge", known)
    assert fit(table, *options) == 0
    facts = facts_in(tmp_path / "out")
    assert facts["knowledge"]["required_edges"] == [["response", "dose"]]
    assert facts["parameters"]["knowledge"] == str(known)
    edges = pd.read_csv(tmp_path / "out" / "edges.csv")
    arcs = set(zip(edges["cause"], edges["effect"], strict=True))
    assert ("response", "dose") in arcs
    assert ("dose", "level") not in arcs
    model = cosmodag.load(tmp_path / "out" / "model.safetensors")
    assert model.knowledge_.required_edges == (("response", "dose"),)


def test_rows_that_are_dropped_lose_their_target_too(table, tmp_path):
    frame = pd.read_csv(table)
    frame.loc[[0, 1], "dose"] = np.nan
    frame.to_csv(table, index=False)
    options = ("-o", tmp_path / "out", "--interventions", "target", "--missing", "drop")
    assert fit(table, *options) == 0
    assert facts_in(tmp_path / "out")["rows"] == 198


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--interventions", "who"), "no column 'who'"),
        (("--interventions", "target", "--knowledge", "none.yaml"), "none.yaml"),
        (("--interventions", "target", "--knowledge", "bad.json"), "'weight'"),
        ((), "target"),
    ],
)
def test_bad_input_is_one_sentence(table, tmp_path, options, words, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.json").write_text('{"sinks": ["weight"]}')
    assert fit(table, "-o", tmp_path / "out", *options) == 2
    message = capsys.readouterr().err
    assert words in message
    assert len(message.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_the_example_is_what_its_page_says():
    data = pd.read_csv(EXAMPLE / "sachs_interventional.csv")
    assert data.shape == (5846, 12)
    assert data["target"].isna().sum() == 1755
    arcs = pd.read_csv(EXAMPLE / "sachs_consensus.csv")
    assert len(arcs) == 17
    assert set(arcs.to_numpy().ravel()) <= set(data.columns)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_a_bootstrap_is_told_of_interventions(table, tmp_path):
    options = (
        "-o",
        tmp_path / "out",
        "--bootstrap",
        4,
        "--method",
        "order-search",
        "--noise",
        "gaussian",
        "--quiet",
    )
    frame = pd.read_csv(table).drop(columns="response")
    frame["target"] = ["", "level"] * 100
    frame.to_csv(table, index=False)
    assert fit(table, "--interventions", "target", *options) == 0
    arcs = pd.read_csv(tmp_path / "out" / "bootstrap.csv")
    assert arcs["directed"].max() == 1.0


@pytest.fixture
def regimes(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    drugged = np.repeat([False, True], 100)
    a = random.normal(size=200)
    b = np.where(drugged, 0.0, 2.0) * a + random.normal(size=200)
    frame = pd.DataFrame({"dose": a, "level": b, "response": b + random.normal(size=200)})
    frame["group"] = np.where(drugged, "drug", "")
    frame["target"] = np.where(drugged, "dose", "")
    frame.to_csv(tmp_path / "groups.csv", index=False)
    return tmp_path / "groups.csv"


def test_targets_of_regimes_are_found_and_printed(regimes, tmp_path, capsys):
    options = ("-o", tmp_path / "out", "--regimes", "group", "--drop", "target")
    assert fit(regimes, *options) == 0
    printed = capsys.readouterr().out
    assert re.search(r"drug +level +found +\d+\.\d +cut", printed)
    assert "assumed to be perfect" not in printed
    facts = facts_in(tmp_path / "out")
    assert facts["regimes"]["rows"] == {"observational": 100, "drug": 100}
    assert [one["variable"] for one in facts["regimes"]["targets"]] == ["level"]
    model = cosmodag.load(tmp_path / "out" / "model.safetensors")
    assert model.targets_["regime"].tolist() == ["drug"]


def test_stated_targets_may_be_wrong_and_others_change(regimes, tmp_path, capsys):
    options = ("-o", tmp_path / "out", "--regimes", "group", "--interventions", "target")
    assert fit(regimes, *options) == 0
    printed = capsys.readouterr().out
    assert "dose was named as a target in the regime 'drug', whose rows show no change" in printed
    assert "level changed in the regime 'drug' without being named" in printed
    assert fit(regimes, *options, "--stated-targets") == 0
    assert "without being named" not in capsys.readouterr().out
