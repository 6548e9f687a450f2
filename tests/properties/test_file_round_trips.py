"""Tables, saved models, fitted learners and knowledge are read back exactly as written.

Graphs are tested in ``test_graph_round_trips.py``.
"""

import csv
import gzip
import io
import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from property_examples import gate_examples, linear_table, random_dag, seeds

import cosmodag
from cosmodag import EmptyGraph, Knowledge, OrderSearch, VarianceSort
from cosmodag.data.knowledge import read_knowledge
from cosmodag.io import read_table
from cosmodag.io.files import read_model, write_model
from random_knowledge import random_knowledge

AWKWARD = [
    "two words", 'quo"te', "quo'te", "line\nend", "carriage\rreturn", "a,b", "a;b", "é", "変数",
    "🌧", "#c", "-", "{x}", "[y]", "a: b", "yes", "null", "~", "&a", "*a", "!t", "a\u2028b",
    "a\x85b", "back\\slash", "<b>", "tiers", "kind", "\x7f",
]  # fmt: skip


pytestmark = pytest.mark.usefixtures("unflushed_files")


def some_names(count: int) -> st.SearchStrategy[list[str]]:
    plain = st.text("abcxyz_", min_size=1, max_size=4)
    name = st.sampled_from(AWKWARD) | plain
    return st.lists(name, min_size=count, max_size=count, unique=True)


finite = st.floats(allow_nan=False, allow_infinity=False)
tables = st.integers(2, 4).flatmap(
    lambda d: st.tuples(
        hnp.arrays(np.float64, st.tuples(st.integers(2, 5), st.just(d)), elements=finite),
        some_names(d),
    )
)


def write_table(frame: pd.DataFrame, path) -> None:
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        # Quote the names, because pandas does not quote a carriage return by itself.
        separator = "\t" if ".tsv" in path.name else ","
        text = frame.to_csv(index=False, sep=separator, quoting=csv.QUOTE_NONNUMERIC)
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "parquet"])
@gate_examples(30)
@given(tables)
def test_tables_come_back_to_the_last_bit(tmp_path_factory, suffix, given_table):
    X, names = given_table
    path = tmp_path_factory.getbasetemp() / f"table.{suffix}"
    write_table(pd.DataFrame(X, columns=names), path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = read_table(path)
    assert table.X.tobytes() == X.tobytes()
    assert table.names == names


facts = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | finite | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
arrays = hnp.arrays(
    st.sampled_from([np.float32, np.float64, np.int32, np.int64, np.bool_, np.uint8]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


@gate_examples(60)
@example(given_arrays={"a": np.array(1.5)}, given_facts={})  # came back as a vector once
@given(
    given_arrays=st.dictionaries(st.text(min_size=1, max_size=8), arrays, max_size=4),
    given_facts=st.dictionaries(st.text(max_size=8), facts, max_size=4),
)
def test_arrays_and_facts_of_a_model_come_back(tmp_path_factory, given_arrays, given_facts):
    path = tmp_path_factory.getbasetemp() / "arrays.safetensors"
    write_model(path, given_arrays, given_facts)
    back, known = read_model(path)
    assert known == given_facts
    assert set(back) == set(given_arrays)
    for name, array in given_arrays.items():
        assert (back[name].dtype, back[name].shape) == (array.dtype, array.shape)
        assert back[name].tobytes() == array.tobytes()  # also distinguishes NaN payloads and −0


LEARNERS = [
    EmptyGraph,
    VarianceSort,
    lambda: VarianceSort(refine="prune"),
    lambda: OrderSearch(random_state=0),
]


@gate_examples(30)
@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
@given(st.sampled_from(LEARNERS), some_names(4), seeds, st.booleans(), st.booleans())
def test_fitted_learners_come_back(tmp_path_factory, make, names, seed, told, whole):
    path = tmp_path_factory.getbasetemp() / "fitted.safetensors"
    random = np.random.default_rng(seed)
    table = pd.DataFrame(linear_table(random, 25, 4), columns=names)
    known = random_knowledge(names, random) if told else None
    model = make().set_params(knowledge=known).fit(table)
    model.save(path, residuals=whole)
    again = cosmodag.load(path)
    assert again.get_params() == model.get_params()
    assert again.knowledge_ == model.knowledge_
    assert again.causal_order_ == model.causal_order_
    assert list(again.graph_.edges(data="weight")) == list(model.graph_.edges(data="weight"))
    for name in ("weights_", "adjacency_"):
        assert getattr(again, name).tobytes() == getattr(model, name).tobytes()
    predicted, before = (np.asarray(one.predict(table)) for one in (again, model))
    assert predicted.tobytes() == before.tobytes()
    assert again.score(table) == model.score(table)
    model.save(path.with_name("again.safetensors"), residuals=whole)
    assert path.with_name("again.safetensors").read_bytes() == path.read_bytes()


def toml(text: str) -> str:
    """Quote text as a TOML basic string: as in JSON, plus the characters only TOML escapes."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def as_toml(value) -> str:
    if isinstance(value, str):
        return toml(value)
    return f"[{', '.join(map(as_toml, value))}]"


def as_csv(known: Knowledge) -> str:
    text = io.StringIO(newline="")
    lines = csv.writer(text)
    lines.writerow(["kind", "cause", "effect"])
    lines.writerows(["forbidden", *edge] for edge in known.forbidden_edges)
    lines.writerows(["required", *edge] for edge in known.required_edges)
    lines.writerows(["allowed", *edge] for edge in known.search_space or ())
    lines.writerows(["exogenous", name] for name in known.exogenous)
    lines.writerows(["sink", name] for name in known.sinks)
    tiers = enumerate((tier for tier in known.tiers if tier), start=1)
    lines.writerows(["tier", name, number] for number, tier in tiers for name in tier)
    return text.getvalue()


WRITERS = {
    "json": lambda known: json.dumps(known.facts()),
    "yaml": lambda known: yaml.safe_dump(known.facts()),
    "toml": lambda known: "\n".join(
        f"{name} = {as_toml(value)}" for name, value in known.facts().items()
    ),
    "csv": as_csv,
}


@pytest.mark.parametrize("suffix", WRITERS)
@gate_examples(40)
# These names were once changed on reading.
@example(names=["two\nlines", "a\r\nb", "one\u2028line", "c", "d"], seed=0)
@given(names=some_names(5), seed=seeds)
def test_knowledge_comes_back(tmp_path_factory, suffix, names, seed):
    known = random_knowledge(names, np.random.default_rng(seed))
    path = tmp_path_factory.getbasetemp() / f"known.{suffix}"
    path.write_bytes(WRITERS[suffix](known).encode() or b"\n")
    back = read_knowledge(path)
    if suffix == "csv":  # has one line per statement, so empty fields are lost
        tiers = tuple(tier for tier in known.tiers if tier)
        known = replace(known, tiers=tiers, search_space=known.search_space or None)
    assert back == known


@gate_examples(60)
@given(st.integers(1, 6), seeds)
def test_a_dag_comes_back_through_networkx(d, seed):
    random = np.random.default_rng(seed)
    weights = random.normal(size=(d, d)) * random_dag(random, d)
    graph = cosmodag.io.Graph([f"v{place}" for place in range(d)], weights)
    assert cosmodag.io.from_networkx(cosmodag.io.to_networkx(graph)) == graph
