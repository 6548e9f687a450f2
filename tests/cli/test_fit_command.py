"""``cosmodag fit`` as users run it, in a subprocess if that matters."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cosmodag
from cosmodag.cli import main
from cosmodag.cli.options.learners import Method
from cosmodag.io.graphs import read_graph

COSMO = ("--method", "cosmo")

FILES = [
    "adjacency.csv",
    "answers.json",
    "edges.csv",
    "graph.cyjs",
    "graph.graphml",
    "model.safetensors",
    "nodes.csv",
    "report.html",
    "run.json",
    "weights.csv",
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    a = random.normal(size=200)
    b = 2 * a + random.normal(size=200)
    frame = pd.DataFrame({"dose": a, "blood level": b, "résponse": b - a + random.normal(size=200)})
    frame.to_csv(tmp_path / "trial.csv", index=False)
    frame.to_parquet(tmp_path / "trial.parquet")
    frame.to_csv(tmp_path / "bare.csv", index=False, header=False)
    return tmp_path / "trial.csv"


def fit(*arguments: object) -> int:
    return main(["fit", *map(str, arguments)])


def test_it_writes_everything_and_prints_the_arcs(table, tmp_path, capsys):
    assert fit(table, "-o", tmp_path / "out", "--method", "cosmo", "--epochs", 200) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == FILES
    printed = capsys.readouterr()
    assert "blood level" in printed.out
    assert printed.err == ""
    model = cosmodag.load(tmp_path / "out" / "model.safetensors")
    graph = read_graph(tmp_path / "out" / "graph.graphml")
    assert list(graph.names) == ["dose", "blood level", "résponse"]
    np.testing.assert_allclose(graph.dense(), model.adjacency_)
    adjacency = read_graph(tmp_path / "out" / "adjacency.csv", format="adjacency")
    np.testing.assert_allclose(adjacency.dense(), model.adjacency_)
    facts = json.loads((tmp_path / "out" / "run.json").read_text())
    assert facts["backend"] == model.backend_
    assert facts["noise"] == model.noise_
    assert [start["start"] for start in facts["starts"]] == [
        start["start"] for start in model.refine_report_
    ]
    assert sum(facts["basis"].values()) == facts["arcs"] == model.edges_.nnz
    assert facts["rows"] == 200
    assert facts["parameters"]["epochs"] == 200


def test_the_list_of_arcs_says_what_they_rest_on_and_can_be_evaluated(table, tmp_path, capsys):
    odd = {"dose": ' a "dose", in mg', "blood level": "blood level "}
    pd.read_csv(table).assign(alone=np.sin(np.arange(200.0))).rename(columns=odd).to_csv(
        table, index=False
    )
    out = tmp_path / "out"
    assert fit(table, "-o", out, "--method", "cosmo", "--epochs", 100) == 0
    model = cosmodag.load(out / "model.safetensors")
    written = pd.read_csv(out / "edges.csv")
    arcs = written
    assert len(arcs) == model.edges_.nnz > 0
    nodes = pd.read_csv(out / "nodes.csv")
    assert nodes["node"].tolist() == model.names_
    assert nodes["node"].iloc[nodes["place"].argsort()].tolist() == model.causal_order_
    for end, degrees in (("cause", "effects"), ("effect", "causes")):
        counts = arcs[end].value_counts()
        assert nodes[degrees].tolist() == [counts.get(name, 0) for name in nodes["node"]]
    assert set(nodes["kind"]) == {"continuous"}
    told = model.arcs_
    assert [*written.columns, "p_edge", "p_direction"] == list(told.columns)
    for name in ("cause", "effect", "basis", "class"):
        assert arcs[name].tolist() == told[name].tolist()
    np.testing.assert_allclose(arcs["standardised"], told["standardised"])
    np.testing.assert_allclose(arcs["t"], arcs["weight"] / arcs["se"])
    printed = capsys.readouterr().out
    assert f"{len(arcs)} arcs, {len(arcs)} shown" in printed
    capsys.readouterr()
    files = [str(out / "graph.graphml"), str(out / "edges.csv")]
    assert main(["evaluate", *files, "--threshold", "0", "--json"]) == 0
    printed = capsys.readouterr()
    assert "does not mention 1 of the 4 nodes" in printed.err
    assert json.loads(printed.out)["shd"] == 0


def test_the_graph_says_what_the_class_directs(table, tmp_path):
    import networkx as nx

    assert fit(table, "-o", tmp_path / "out", "--method", "order-search") == 0
    told = cosmodag.load(tmp_path / "out" / "model.safetensors").arcs_
    graph = nx.read_graphml(tmp_path / "out" / "graph.graphml")
    assert graph.number_of_edges() == len(told) > 0
    for arc in told.to_dict("records"):
        facts = graph.edges[arc["cause"], arc["effect"]]
        assert (facts["basis"], facts["class"]) == (arc["basis"], arc["class"])
        assert facts["standardised"] == pytest.approx(arc["standardised"])


def test_it_says_how_many_arcs_it_shows_and_that_there_are_none(table, tmp_path, capsys):
    assert fit(table, "-o", tmp_path / "out", "--method", "order-search", "--top", 1) == 0
    assert "3 arcs, 1 shown" in capsys.readouterr().out
    assert fit(table, "-o", tmp_path / "out", "--method", "empty-graph") == 0
    assert "No arc found." in capsys.readouterr().out


def test_parquet_and_bare_csv_give_the_same_graph(table, tmp_path, capsys):
    for name, more in (("trial.csv", []), ("trial.parquet", []), ("bare.csv", ["--no-header"])):
        assert (
            fit(
                tmp_path / name,
                "-o",
                tmp_path / name[:-4],
                "--method",
                "order-search",
                "--json",
                *more,
            )
            == 0
        )
        result = json.loads(capsys.readouterr().out)
        assert result["variables"] == 3
    weights = [
        cosmodag.load(tmp_path / name / "model.safetensors").raw_weights_
        for name in ("trial", "trial.par", "bare")
    ]
    # Text files contain all digits of a double, so the tables are identical.
    np.testing.assert_array_equal(weights[0], weights[1])
    np.testing.assert_array_equal(weights[0], weights[2])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\n1,2\n3,\n", "'b'"),
        ("a,b\n1,2\n3,inf\n", "'b'"),
        ("a,b\n1,2\n3,low\n", "'b'"),
        ("a,b\n1,2\n3\n4,5\n", "line 3"),
        ("a,a\n1,2\n3,4\n", "'a'"),
        ("a,b\n1,2\n", "row"),
        ("a,b\n", "row"),
        ("", "empty"),
        ("a\n1\n2\n", "column"),
    ],
)
def test_bad_tables_end_with_2_and_write_nothing(tmp_path, capsys, content, words):
    (tmp_path / "bad.csv").write_text(content)
    assert fit(tmp_path / "bad.csv", "-o", tmp_path / "out") == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert words in printed.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.csv"], "missing.csv"),
        (["."], "folder"),
        (["trial.csv", "--scale", "log"], "--scale"),
        (["trial.csv", "--set", "lambda1=much"], "lambda1"),
        (["trial.csv", "--set", "lambda9=1"], "lambda9"),
        (["trial.csv", "--set", "lambda1"], "NAME=VALUE"),
        (["trial.csv", "--set", "verbose=maybe"], "true or false, but got 'maybe'"),
        (["trial.csv", "--set", "verbose=1"], "true or false, but got '1'"),
        (["trial.csv", "--stated-targets"], "--regimes"),
        (["trial.csv", "--epochs", "0"], "--epochs"),
        (["trial.csv", "--epochs", "9"], "name a learner by --method"),
        (["trial.csv", "--method", "cosmo", "--device", "gpu", "--epochs", "1"], "device"),
        (["trial.csv", "--unknown"], "--unknown"),
        (["trial.csv", "--method", "oracle"], "--method"),
        (["trial.csv", "--method", "variance-sort", "--epochs", "5"], "--epochs"),
        (["trial.csv", "--method", "notears-mlp", "--epochs", "5"], "--epochs"),
        (["trial.csv", "--method", "equal-variance", "--trainings", "5"], "--trainings"),
        (["trial.csv", "--method", "empty-graph", "--restarts", "5"], "--restarts"),
        (
            ["trial.csv", "--method", "cosmo", "--refine", "none", "--noise", "gaussian"],
            "--refine order",
        ),
        (["trial.csv", "--refine", "none", "--method", "order-search"], "--refine is not an"),
        (["trial.csv", "--refine", "none", "--method", "empty-graph"], "--refine is not an option"),
        (
            ["trial.csv", "--method", "cosmo", "--refine", "none", "--set", "refine=none"],
            "refine is given twice",
        ),
        (["trial.csv", "--threshold", ".2", "--set", "threshold=.1"], "threshold is given twice"),
        (["trial.csv", "--seed", "1", "--set", "random_state=3"], "random_state is given twice"),
        (["trial.csv", "-o", "trial.csv"], "trial.csv"),
    ],
)
def test_bad_options_end_with_2(table, tmp_path, monkeypatch, capsys, arguments, words):
    if words == "device":
        import jax

        if any(device.platform == "gpu" for device in jax.devices()):
            pytest.skip("this machine has a GPU")
    monkeypatch.chdir(tmp_path)
    assert fit(*arguments) == 2
    assert words in capsys.readouterr().err


def test_a_seed_may_be_set_by_its_own_name(table, tmp_path, capsys):
    few = ["--method", "cosmo", "--epochs", 5, "--json", "--refine", "none"]
    for out, option in (("by-set", ["--set", "random_state=3"]), ("by-seed", ["--seed", 3])):
        assert fit(table, "-o", tmp_path / out, *few, *option) == 0
    one, other = (
        cosmodag.load(tmp_path / out / "model.safetensors") for out in ("by-set", "by-seed")
    )
    assert np.array_equal(one.raw_weights_, other.raw_weights_)


def test_refining_may_be_left_out(table, tmp_path):
    for word, noise in (("none", None), ("prune", "gaussian")):
        assert fit(table, "-o", tmp_path / word, *COSMO, "--epochs", 5, "--refine", word) == 0
        assert json.loads((tmp_path / word / "run.json").read_text())["noise"] == noise


def test_a_constant_column_is_one_line_of_warning(table, tmp_path, capsys):
    frame = pd.read_csv(table).assign(still=1.0)
    frame.to_csv(table, index=False)
    assert fit(table, "-o", tmp_path / "out", "--method", "cosmo", "--epochs", 20) == 0
    error = capsys.readouterr().err
    assert error.startswith("warning: ")
    assert "still" in error


# The other methods take seconds to compile, and the command line treats their names alike.
QUICK = {"cosmo", "order-search", "dagma", "variance-sort", "equal-variance"}
METHODS = [
    pytest.param(method, marks=() if method in QUICK else pytest.mark.nightly) for method in Method
]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_writes_a_graph(table, tmp_path, method):
    few = ["--epochs", 5] if method.startswith("cosmo") else []
    assert fit(table, "-o", tmp_path / "out", "--method", method, *few) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == FILES


def test_a_dry_run_says_the_cost_and_writes_nothing(table, tmp_path, capsys):
    assert fit(table, "-o", tmp_path / "out", "--method", "cosmo", "--dry-run") == 0
    assert "GiB" in capsys.readouterr().out
    assert fit(table, "-o", tmp_path / "out", "--method", "cosmo", "--dry-run", "--json") == 0
    cost = json.loads(capsys.readouterr().out)
    assert {"device", "backend", "precision", "batches", "memory", "available"} <= set(cost)
    assert cost["backend"] != "reference"
    assert cost["seconds"] > 0
    assert not (tmp_path / "out").exists()


def test_max_time_ends_well(table, tmp_path, capsys):
    code = fit(
        table,
        "-o",
        tmp_path / "out",
        "--method",
        "cosmo",
        "--epochs",
        10**7,
        "--max-time",
        0.5,
        "--json",
    )
    assert code == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["stopped"] == "time"
    assert "max_time" in printed.err


@pytest.mark.parametrize(
    ("command", "name", "options"),
    [
        ("fit", "report.html", ()),
        ("fit", "graph.dot", ("--format", "dot")),
        ("pag", "pag.txt", ()),
    ],
)
def test_a_folder_with_the_name_of_a_file_is_refused(
    table, tmp_path, capsys, command, name, options
):
    folder = tmp_path / "out"
    (folder / name).mkdir(parents=True)
    assert main([command, str(table), "-o", str(folder), *options]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"error: '{folder / name}' is a folder")
    assert [path.name for path in folder.iterdir()] == [name]


def test_files_that_only_an_earlier_fit_wrote_are_removed(table, tmp_path):
    out = tmp_path / "out"
    options = ["-o", out, "--quiet", "--method", "order-search"]
    assert fit(table, *options, "--bootstrap", 2, "--format", "dot") == 0
    assert {"bootstrap.csv", "graph.dot"} <= {path.name for path in out.iterdir()}
    record = json.loads((out / "run.json").read_text())
    assert {*record["written"], "run.json"} == {path.name for path in out.iterdir()}
    # Other files stay, whatever the record says, and so does what was changed.
    kept = ("graph.secret.txt", "graph.svg", "bootstrap.csv")
    for name in kept:
        (out / name).write_text("mine")
    digest = hashlib.sha256(table.read_bytes()).hexdigest()
    record["written"] |= {"graph.secret.txt": "", "..": "", "../trial.csv": digest}
    (out / "run.json").write_text(json.dumps(record))
    assert fit(table, *options) == 0
    assert sorted(path.name for path in out.iterdir()) == sorted([*FILES, *kept])
    assert table.is_file()


def test_a_file_of_the_user_is_not_replaced(table, tmp_path, capsys):
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.html").write_text("mine")
    assert fit(table, "-o", out, "--quiet", "--method", "order-search") == 2
    assert "report.html' is not the file of a fit" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["report.html"]


@pytest.mark.parametrize("name", ["model.safetensors", "answers.json", "edges.csv"])
def test_files_of_two_fits_are_not_mixed(table, tmp_path, capsys, name):
    options = ["--quiet", "--method", "variance-sort"]
    for out, scale in (("out", "center"), ("other", "standardize")):
        assert fit(table, "-o", tmp_path / out, *options, "--scale", scale) == 0
    shutil.copy(tmp_path / "other" / name, tmp_path / "out" / name)
    capsys.readouterr()
    assert main(["report", str(tmp_path / "out")]) == 2
    assert f"{name}' was changed or damaged" in capsys.readouterr().err


TRAINING = """
import signal, sys
from importlib import import_module
from cosmodag.cli import program
from cosmodag.cli.terminal import signals
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
signals._WAIT = 120.0  # a busy machine may be slow to answer
train = import_module("cosmodag.solve.training.train")
def note(losses):
    if not seen:
        seen.append(print("training", flush=True))
    return ""
seen, train._note = [], note
program()
"""


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "sigterm"]
)
def test_signals_end_with_their_code(table, tmp_path, number, code):
    out = tmp_path / "out"
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            TRAINING,
            "fit",
            table,
            "-o",
            out,
            "--method",
            "cosmo",
            "--epochs",
            str(10**8),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "training\n"
    os.kill(process.pid, number)
    _, error = process.communicate(timeout=300)
    assert process.returncode == code, error
    assert "Traceback" not in error
    assert json.loads((out / "run.json").read_text())["stopped"] == "interrupt"


def test_the_template_of_knowledge_is_read_by_a_fit(tmp_path, capsys):
    random = np.random.default_rng(0)
    columns = random.normal(size=(80, 3)) @ [[1, 0.8, 0.5], [0, 1, 0.7], [0, 0, 1]]
    pd.DataFrame(columns, columns=["dose", "age", "sex"]).to_csv(tmp_path / "t.csv", index=False)
    assert main(["knowledge", "--template", str(tmp_path / "t.csv")]) == 0
    (tmp_path / "known.yaml").write_text(capsys.readouterr().out)
    options = ["--method", "order-search", "-o", str(tmp_path / "out"), "-q"]
    known = ["--knowledge", str(tmp_path / "known.yaml")]
    assert main(["fit", str(tmp_path / "t.csv"), *options, *known]) == 0
    arcs = pd.read_csv(tmp_path / "out" / "edges.csv")
    assert "dose" not in arcs["cause"].tolist()
    assert set(arcs["grade"]) == {"determined"}
