"""The page as a single file: small, self-contained, and safe for any names."""

import hashlib
import json
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from graphs_to_report import bootstrap_of, model_of, other_pair, random_dag
from hypothesis import example, given, settings
from hypothesis import strategies as st

import cosmodag
from cosmodag import Cosmo, CosmoMLP, EmptyGraph, VarianceSort
from cosmodag.learners.registry import LEARNERS
from cosmodag.report import Evidence
from cosmodag.report.facts import page_data
from cosmodag.report.page import embedded, page_for
from cosmodag.report.sentences import choices_of

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")

ASSETS = files("cosmodag.report").joinpath("assets")


def data_in(page: str) -> dict:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(text)


@settings(max_examples=20)
@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("</script>")
@example("<!--SCRIPTS-->")
@example("]]>")
@example("&lt;")
@example("\u2028")
@example("\u2029")
def test_any_text_comes_back_and_ends_no_element(text):
    written = embedded({"name": text})
    assert json.loads(written) == {"name": text}
    assert not set("<>&\u2028\u2029") & set(written)
    page = page_for({"name": text})
    assert data_in(page) == {"name": text}
    assert page.count("<script>") == page_for({"name": ""}).count("<script>")


def test_the_page_is_small_and_refers_to_nothing_outside(tmp_path):
    model = model_of(random_dag(30, 120))
    model.report(tmp_path / "report.html", bootstrap=bootstrap_of(model))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 2_000_000
    head = page[: page.index("<body>")]
    assert "default-src 'none'" in head
    assert "unsafe-eval" not in page
    assert "sourceMappingURL" not in page
    own = "".join(re.sub(r"<script.*?</script>", "", page, flags=re.S))
    assert not re.search(r"""(src|href)=["'](?!data:,)""", own)
    assert "http://" not in own
    assert "https://" not in own


def test_the_policy_lists_the_scripts_of_the_page(tmp_path):
    import base64

    page = page_for({})
    allowed = set(re.findall(r"'sha256-([^']+)'", page[: page.index("<style>")]))
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    digests = {base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts}
    assert allowed == digests
    assert len(digests) == 2


def test_libraries_match_their_records_and_have_licences():
    vendor = ASSETS.joinpath("vendor")
    versions = vendor.joinpath("VERSIONS").read_text(encoding="utf-8")
    recorded = {}
    for line in versions.splitlines():
        words = line.split()
        if len(words) == 6 and words[0].endswith(".js"):
            recorded[words[0]] = words
    scripts = {entry.name for entry in vendor.iterdir() if entry.name.endswith(".js")}
    assert scripts == recorded.keys()
    for name, (_, _, _, licence, text, digest) in recorded.items():
        assert hashlib.sha256(vendor.joinpath(name).read_bytes()).hexdigest() == digest
        assert licence == "MIT"
        assert "Permission is hereby granted" in vendor.joinpath(text).read_text(encoding="utf-8")
    for text in re.findall(r"LICENSE\.\w[\w-]*", versions):
        assert vendor.joinpath(text).is_file()


def test_own_scripts_insert_names_only_as_text():
    for entry in ASSETS.joinpath("js").iterdir():
        script = entry.read_text(encoding="utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in script, entry.name


def test_files_are_short():
    for entry in [
        *ASSETS.joinpath("js").iterdir(),
        *map(ASSETS.joinpath, ("page.html", "style.css")),
    ]:
        assert len(entry.read_text(encoding="utf-8").splitlines()) < 300, entry.name


def test_the_page_data_agrees_with_the_model():
    model = model_of(random_dag(12, 30))
    bootstrap = bootstrap_of(model)
    data = page_data(model, Evidence.of(model, bootstrap=bootstrap))
    arcs, edges = data["arcs"], model.edges_
    assert arcs["from"] == edges.row.tolist()
    assert arcs["to"] == edges.col.tolist()
    np.testing.assert_allclose(arcs["weight"], edges.data, rtol=1e-4)
    assert [data["bases"][basis]["name"] for basis in arcs["basis"]] == list(
        model.fitted_.arrow_basis
    )
    for name in ("edge", "direction"):
        shares = getattr(bootstrap, f"{name}_probabilities")[edges.row, edges.col]
        np.testing.assert_allclose(arcs[f"p_{name}"], shares, rtol=1e-4)
    told = model.arcs_.sort_index()
    np.testing.assert_allclose(arcs["standardised"], told["standardised"], rtol=1e-4)
    assert arcs["fixed"] == (told["class"] == "directed").tolist()
    assert [data["variables"]["name"][v] for v in data["variables"]["order"]] == model.causal_order_
    assert data["stability"]["missed"] == [[*other_pair(model), 0.8]]
    json.dumps(data, allow_nan=False)


@pytest.mark.parametrize("name", ["Cosmo", "Notears", "VarianceSort"])
def test_learners_of_all_kinds_have_a_page(name, tmp_path):
    x = np.random.default_rng(0).normal(size=(60, 3)) @ [[1, 0.8, 0], [0, 1, 0.7], [0, 0, 1]]
    learner = LEARNERS[name].load()
    few = {"epochs": 5} if "epochs" in learner._get_param_names() else {}
    model = learner(**few).fit(x)
    model.report(tmp_path / "report.html")
    data = data_in((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert data["learner"] == name
    assert data["variables"]["name"] == ["0", "1", "2"]
    assert data["diagnosed"]
    assert bool(data["history"]["at"]) == hasattr(model, "history_")


def test_networks_have_responses_and_no_signs():
    x = np.random.default_rng(0).normal(size=(200, 1))
    table = pd.DataFrame({"dose": x[:, 0], "response": np.sin(x[:, 0]) * 3})
    model = CosmoMLP(epochs=30, random_state=0, refine=None, threshold=0.0).fit(table)
    data = page_data(model, Evidence.of(model))
    assert data["arcs"]["error"] is None
    assert not data["signed"]
    (curve,) = data["curves"]
    names = data["variables"]["name"]
    u, v = names[data["arcs"]["from"][0]], names[data["arcs"]["to"][0]]
    np.testing.assert_allclose(curve["y"], model.response(u, v, curve["x"]), rtol=1e-2, atol=1e-3)


def test_choices_and_reasons_are_reported():
    x = np.random.default_rng(0).normal(size=(100, 2)) @ [[1, 0.8], [0, 1]]
    model = Cosmo(epochs=5, random_state=0).fit(x)
    data = page_data(model, Evidence.of(model))
    told = {choice["title"]: choice["text"] for choice in data["choices"]}
    assert model.noise_reason_ in told["Noise"]
    assert model.backend_ in told["Computed by"]
    assert "scale-free" in told["Starts"]
    assert data["reproduce"]["code"].endswith("Cosmo(epochs=5).fit(table)")


def test_knowledge_and_interventions_are_reported():
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=["a", "b", "c"])
    targets = np.zeros((40, 3), bool)
    targets[:9, 1] = True
    known = {"forbidden_edges": [("a", "b"), ("a", "c")]}
    model = VarianceSort(knowledge=known).fit(table, interventions=targets)
    data = page_data(model, Evidence.of(model), {})
    told = {choice["title"]: choice["text"] for choice in data["choices"]}
    assert "forbidden edges: 2" in told["Knowledge"]
    assert told["Interventions"].endswith(": b.")
    assert data["reproduce"]["code"].endswith(".fit(table, interventions=…)")


def test_a_gain_within_rounding_is_not_reported():
    model = model_of(random_dag(4, 5))
    start = {"start": "learnt", "before": -10.0, "after": -10.0 + 2e-13, "moves": 5, "chosen": True}
    model.refine_report_ = [start]
    told = {choice["title"]: choice["text"] for choice in choices_of(model, {})}
    assert told["Starts"] == "1 starting order: learnt. The best graph was found from “learnt”."
    model.refine_report_ = [start | {"after": -8.0}]
    told = {choice["title"]: choice["text"] for choice in choices_of(model, {})}
    assert told["Starts"].endswith("“learnt”, whose score rose by 2 in 5 moves.")
    model.refine_report_ = [start | {"after": -8.0, "moves": 0}]  # as of a search of blocks
    told = {choice["title"]: choice["text"] for choice in choices_of(model, {})}
    assert told["Starts"].endswith("“learnt”, whose score rose by 2.")


def test_problems_of_the_fit_come_first():
    x = np.random.default_rng(0).normal(size=(100, 2)) @ [[1, 0.8], [0, 1]]
    model = Cosmo(max_time=1e-9, random_state=0).fit(x)
    data = page_data(model, Evidence.of(model))
    assert data["findings"][0]["severity"] == "warning"
    assert "time limit" in data["findings"][0]["sentence"]


def test_a_model_without_data_has_no_diagnosis(tmp_path):
    model = model_of(random_dag(4, 5))
    model.save(tmp_path / "model.safetensors")
    data = page_data(loaded := cosmodag.load(tmp_path / "model.safetensors"), Evidence.of(loaded))
    assert not data["diagnosed"]
    assert data["arcs"]["error"] is None


def test_a_model_must_be_fitted(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        EmptyGraph().report(tmp_path / "report.html")
    assert list(Path(tmp_path).iterdir()) == []
