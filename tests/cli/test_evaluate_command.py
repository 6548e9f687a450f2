"""``cosmodag evaluate`` matches nodes by name and prints what `metrics.evaluate` returns."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from cosmodag.cli import main
from cosmodag.metrics import evaluate
from needs_gadjid import needs_gadjid

TRUTH = "Cause,Effect\na,b\na,c\nb,d\nc,d\n"
# Nodes in another order: a → b and a → c are found, b → d is reversed, c → d is too weak.
ESTIMATE = ",d,c,b,a\nd,0,0,0.7,0\nc,0.2,0,0,0\nb,0,0,0,0\na,0,-1.5,0.9,0\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "truth.csv").write_text(TRUTH)
    (tmp_path / "estimate.csv").write_text(ESTIMATE)
    return tmp_path


def test_nodes_are_matched_by_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "truth.csv", "estimate.csv", "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    truth, weights = np.zeros((4, 4)), np.zeros((4, 4))
    truth[[0, 0, 1, 2], [1, 2, 3, 3]] = 1
    weights[[0, 0, 3, 2], [1, 2, 1, 3]] = 0.9, -1.5, 0.7, 0.2
    scores = json.loads(printed.out)
    assert scores == pytest.approx(evaluate(truth, weights, threshold=0.0))
    assert (scores["shd"], scores["shd_double"], scores["tpr"]) == (1, 2, 0.75)


def test_a_finished_graph_is_no_distance_from_itself(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "estimate.csv", "estimate.csv", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert (scores["shd"], scores["tpr"]) == (0, 1)


def test_weights_with_cycles_are_cut_and_that_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "raw.csv").write_text(",a,b,c,d\na,0,1,1,0\nb,.1,0,0,1\nc,0,0,0,1\nd,0,0,.2,0\n")
    assert main(["evaluate", "truth.csv", "raw.csv", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["shd"] == 0
    assert "has cycles" in printed.err


@needs_gadjid
def test_threshold_and_intervention_distances_are_options(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["evaluate", "truth.csv", "estimate.csv", "--threshold", "0.1", "--sid", "--json"]
    assert main(arguments) == 0
    scores = json.loads(capsys.readouterr().out)
    assert (scores["shd"], scores["sid"], scores["ancestor_aid"]) == (1, 4, 2)


def test_the_table_has_a_line_for_every_score(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "truth.csv", "estimate.csv", "--threshold", "0.3"]) == 0
    lines = dict(line.split() for line in capsys.readouterr().out.splitlines()[1:])
    assert lines["nhd"] == "0.7500"
    assert lines["shd"] == "2"
    assert {"auc", "f1", "skeleton_f1", "order_divergence"} <= lines.keys()


def test_undefined_scores_are_null_in_json(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "truth.csv", "estimate.csv", "--threshold", "9", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["precision"] is None


def test_a_node_one_file_leaves_out_is_isolated_there_and_said_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "few.csv").write_text("source,target,weight\na,b,1\n")
    assert main(["evaluate", "truth.csv", "few.csv", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["nhd"] == 3 / 4
    assert "'few.csv' does not mention 2 of the 4 nodes" in printed.err


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        (["truth.csv", "nowhere.csv"], [], "nowhere.csv"),
        (["truth.csv", "stray.csv"], [], "'stray.csv' has the node 'z'"),
        (["truth.csv", "loop.csv"], ["--sid"], "cycle"),
        (["self.csv", "truth.csv"], [], "self-loop"),
        (["truth.csv", "estimate.csv"], ["--threshold", "-1"], "threshold"),
        (["truth.csv"], [], "estimate"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    files: list[str],
    options: list[str],
    message: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (folder / "stray.csv").write_text("source,target\na,z\n")
    (folder / "loop.csv").write_text("source,target\na,b\nb,a\nc,d\n")
    (folder / "self.csv").write_text("source,target\na,a\na,b\na,c\na,d\n")
    assert main(["evaluate", *files, *options]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err.lower()
    assert printed.err.count("\n") == 1


def test_a_matrix_without_names_is_matched_by_position(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "named.csv").write_text("a,b,c\n0,1,1\n0,0,0\n0,0,0\n")
    (folder / "bare.csv").write_text("0,0.9,0\n0,0,0.8\n0,0,0\n")
    for files in (["named.csv", "bare.csv"], ["bare.csv", "named.csv"]):
        assert main(["evaluate", *files, "--json"]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        assert json.loads(printed.out)["tpr"] == 0.5
    assert main(["evaluate", "bare.csv", "bare.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["shd"] == 0
    # Names that happen to be x0, x1, … are matched as names, in any order.
    (folder / "turned.csv").write_text("x2,x1,x0\n0,0,0\n0.8,0,0\n0,0.9,0\n")
    assert main(["evaluate", "bare.csv", "turned.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["shd"] == 0
    assert main(["evaluate", "truth.csv", "bare.csv"]) == 2
    assert "'truth.csv' has 4 nodes and 'bare.csv' 3" in capsys.readouterr().err


def test_one_graph_may_come_through_a_pipe(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ESTIMATE.encode())))
    assert main(["evaluate", "truth.csv", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["shd"] == 1
    assert main(["evaluate", "-", "-"]) == 2
    assert "one graph" in capsys.readouterr().err


def test_quiet_leaves_the_note_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "few.csv").write_text("source,target,weight\na,b,1\n")
    assert main(["evaluate", "truth.csv", "few.csv", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_each_graph_has_a_node_of_its_own(tmp_path, capsys):
    for name, text in (("t.csv", "source,target\na,b\n"), ("e.csv", "source,target\na,c\n")):
        (tmp_path / name).write_text(text)
    assert main(["evaluate", str(tmp_path / "t.csv"), str(tmp_path / "e.csv")]) == 2
    assert "lacks" in capsys.readouterr().err
    assert main(["evaluate", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "one graph must have all nodes of the other" in shown
