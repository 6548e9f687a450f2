"""``cosmodag report`` writes the same page from the folder as the fit; the file for Cytoscape."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from graphs_to_report import bootstrap_of, model_of, random_dag

import cosmodag
from cosmodag.cli import main
from cosmodag.cli.fit_folder import write_results
from cosmodag.io import Table, read_graph
from cosmodag.report import Evidence, write_cytoscape
from cosmodag.report.saved_report import edge_list, report_folder

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A fit of a table with markup in a name, and with a constant column."""
    random = np.random.default_rng(0)
    a = random.normal(size=200)
    b = 2 * a + random.normal(size=200)
    frame = pd.DataFrame({"<b>dose</b>": a, "level": b, "still": np.ones(200)})
    frame.to_csv(tmp_path / "trial.csv", index=False)
    out = tmp_path / "out"
    table = str(tmp_path / "trial.csv")
    assert main(["fit", table, "-o", str(out), "--method", "order-search"]) == 0
    return out


def test_the_report_can_be_written_from_the_folder_alone(folder, tmp_path, capsys):
    written = (folder / "report.html").read_text(encoding="utf-8")
    (tmp_path / "trial.csv").unlink()
    again = tmp_path / "again.html"
    capsys.readouterr()
    assert main(["report", str(folder), "-o", str(again)]) == 0
    assert str(again) in capsys.readouterr().out
    assert again.read_text(encoding="utf-8") == written
    (folder / "report.html").unlink()
    assert main(["report", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"] == str(folder / "report.html")
    assert (folder / "report.html").read_text(encoding="utf-8") == written


def test_the_page_of_a_fit_has_its_origin(folder, tmp_path):
    page = (folder / "report.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
    facts = dict(data["reproduce"]["facts"])
    import hashlib

    table = (tmp_path / "trial.csv").read_bytes()
    assert facts["SHA-256 of the data"] == hashlib.sha256(table).hexdigest()
    assert data["reproduce"]["code"].startswith("cosmodag fit ")
    assert data["reproduce"]["code"].endswith("--method order-search")
    assert f"cosmodag {cosmodag.__version__}" in facts["Versions"]
    assert any("still" in finding["sentence"] for finding in data["findings"])
    assert data["variables"]["name"][0] == "<b>dose</b>"
    assert "<b>dose" not in page
    errors = pd.read_csv(folder / "edges.csv")["se"].dropna()
    np.testing.assert_allclose(sorted(data["arcs"]["error"]), sorted(errors), rtol=1e-4)


def test_a_bootstrap_is_kept(tmp_path):
    model = model_of(random_dag(6, 9))
    X = model.preparation_.undo(model.training_data())
    bootstrap = bootstrap_of(model)
    bootstrap.edges = pd.DataFrame  # an empty bootstrap.csv
    table = Table(X, list(model.feature_names_in_))
    write_results(tmp_path, model, table, {}, bootstrap=bootstrap)
    report_folder(tmp_path, tmp_path / "again.html")
    pages = [
        (tmp_path / name).read_text(encoding="utf-8") for name in ("report.html", "again.html")
    ]
    assert pages[0] == pages[1]
    assert '"resamples":50' in pages[0]


def test_the_command_keeps_its_bootstrap(folder, tmp_path):
    out, again = tmp_path / "resampled", tmp_path / "again.html"
    table = str(tmp_path / "trial.csv")
    fit = ["fit", table, "-o", str(out), "--method", "order-search", "--bootstrap", "4"]
    assert main(fit) == 0
    page = (out / "report.html").read_text(encoding="utf-8")
    assert '"resamples":4' in page
    assert "p_edge" in (out / "edges.csv").read_text(encoding="utf-8")
    assert main(["report", str(out), "-o", str(again)]) == 0
    assert again.read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda out: (out / "model.safetensors").unlink(), "model.safetensors"),
        (lambda out: (out / "run.json").write_text("{"), "run.json"),
        (lambda out: (out / "run.json").write_text("[]"), "run.json"),
        (lambda out: (out / "answers.json").write_text('{"effects": {}}'), "answers.json"),
        (lambda out: (out / "edges.csv").write_text("cause,effect\n"), "edges.csv"),
    ],
)
def test_missing_and_damaged_files_are_named(folder, capsys, break_it, words):
    break_it(folder)
    capsys.readouterr()
    assert main(["report", str(folder)]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_names_in_the_list_of_arcs_keep_their_blanks(tmp_path):
    names = [" a", "b ", "c\t", 'd "e"', "f,g", "-1.5"]
    model = model_of(random_dag(6, 5))
    text = edge_list(model, names, Evidence(errors=None).table(model))
    (tmp_path / "edges.csv").write_text(text, encoding="utf-8")
    graph = read_graph(tmp_path / "edges.csv")
    assert sorted(graph.names) == sorted(names)
    places = [names.index(name) for name in graph.names]
    expected = model.adjacency_[np.ix_(places, places)]
    np.testing.assert_allclose(graph.dense(), expected)


def test_the_model_alone_is_shown_without_the_other_files(folder):
    (folder / "run.json").unlink()
    (folder / "edges.csv").unlink()
    assert main(["report", str(folder)]) == 0
    assert '"diagnosed":false' in (folder / "report.html").read_text(encoding="utf-8")


def test_the_file_for_cytoscape_has_the_graph(folder, tmp_path):
    import networkx as nx

    model = cosmodag.load(folder / "model.safetensors")
    document = json.loads((folder / "graph.cyjs").read_text(encoding="utf-8"))
    assert document["format_version"] == "1.0"
    nodes, edges = document["elements"]["nodes"], document["elements"]["edges"]
    names = {node["data"]["id"]: node["data"]["name"] for node in nodes}
    graph = nx.DiGraph()
    graph.add_nodes_from(names.values())
    for edge in edges:
        ends = names[edge["data"]["source"]], names[edge["data"]["target"]]
        graph.add_edge(*ends, weight=edge["data"]["weight"])
    assert set(graph) == set(model.graph_)
    assert set(graph.edges(data="weight")) == set(model.graph_.edges(data="weight"))
    assert [edge["data"]["interaction"] for edge in edges] == list(model.fitted_.arrow_basis)
    write_cytoscape(tmp_path / "again.cyjs", model)
    assert (tmp_path / "again.cyjs").read_text() == (folder / "graph.cyjs").read_text()
