"""Short malicious files raise one error of the package each, in bounded time and memory."""

import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pandas as pd
import pytest

from cosmodag.data.knowledge import read_knowledge
from cosmodag.errors import CosmodagError, DataError, name_list
from cosmodag.io.graphs import read_graph, write_graph
from cosmodag.io.graphs.digraph import Graph
from cosmodag.io.tables.read_table import read_table
from processor_limits import processor_time_below

SECONDS, BYTES = 5, 400_000_000


def timed_sentence(read: Callable[[Path], object], path: Path) -> str:
    """Read a file that must quickly raise an error with one short sentence."""
    with processor_time_below(SECONDS), pytest.raises(CosmodagError) as refused:
        read(path)
    sentence = str(refused.value)
    assert len(sentence) < 400 + len(str(path))
    assert "\n" not in sentence
    return sentence


def sentence_of(read: Callable[[Path], object], path: Path) -> str:
    """Measure the memory of reading the file, then its time in a second run without tracing."""
    tracemalloc.start()
    try:
        with pytest.raises(CosmodagError):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < BYTES
    finally:
        tracemalloc.stop()
    return timed_sentence(read, path)


def far_away(path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    for place, value in {"A1": "a", "B1": "b", "A2": 1, "B2": 2, "XFD1048576": 1}.items():
        book.active[place] = value
    book.save(path)


def unpacks_to_much(path: Path) -> None:
    pd.DataFrame({"a": [1, 2], "b": [3, 4]}).to_excel(path, index=False)
    with ZipFile(path, "a", ZIP_DEFLATED) as parts, parts.open("xl/more.xml", "w") as part:
        for _ in range(11):
            part.write(bytes(10_000_000))


def packed(path: Path) -> None:
    with gzip.open(path, "wb") as file:
        file.write(b"a,b\n")
        for _ in range(11):
            file.write(b"1,2\n" * 2_500_000)


def repeated(path: Path) -> None:
    pd.DataFrame({"a": np.zeros(8_000_000), "b": 1.0}).to_parquet(path)


@pytest.mark.parametrize(
    ("name", "write", "words"),
    [
        ("far.xlsx", far_away, "1,048,576 rows and 16,384 columns"),
        ("bomb.xlsx", unpacks_to_much, "unpacks to more than 100 MB"),
        ("bomb.csv.gz", packed, "unpacks to more than 100 MB"),
        ("bomb.parquet", repeated, "unpacks to more than 100 MB"),
    ],
)
def test_a_short_file_that_unpacks_to_much(
    tmp_path: Path, name: str, write: Callable[[Path], None], words: str
) -> None:
    write(tmp_path / name)
    assert (tmp_path / name).stat().st_size < 500_000
    assert words in sentence_of(read_table, tmp_path / name)


def test_thousands_of_tiers_are_read_in_seconds(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text(json.dumps({"tiers": [[f"x{k}"] for k in range(3_000)]}))
    with processor_time_below(5):
        known = read_knowledge(path)
    assert len(known.tiers) == 3_000


DIGITS = "9" * 100_000
DOCUMENT = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">'
ENTITIES = "".join(f'<!ENTITY e{k + 1} "{f"&e{k};" * 10}">' for k in range(9))
CHAIN = "->".join("{" + " ".join(f"a{k}_{i}" for i in range(300)) + "}" for k in range(40))
MERGED = "".join(f"a{k + 1}: &a{k + 1} {{<<: [{', '.join([f'*a{k}'] * 10)}]}}\n" for k in range(8))
KEYS = [{f"a{k}": 1} for k in range(12_000)]
HOSTILE: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "dot: comments": (read_graph, "graph.dot", "/*!" * 20_000),
    "bif: comments": (read_graph, "graph.bif", "/*!" * 40_000),
    "bif: variables": (read_graph, "graph.bif", "variable " * 20_000 + "probability(" * 20_000),
    "cyjs: depth": (read_graph, "graph.cyjs", '{"elements":' + "[" * 100_000),
    "cyjs: digits": (
        read_graph,
        "graph.cyjs",
        f'{{"elements": {{"nodes": [{{"data": {{"id": "a", "x": {DIGITS}}}}}], "edges": []}}}}',
    ),
    "tetrad: names": (read_graph, "graph.txt", f"Graph Nodes:\n{'a;' * 30_000}\nGraph Edges:\n"),
    "tetrad: spaces": (
        read_graph,
        "graph.txt",
        f"Graph Nodes:\na;b\nGraph Edges:\n{' ' * 60_000}x\n1. a --{' ' * 60_000}> b\n",
    ),
    "dot: lists of nodes": (read_graph, "graph.dot", f"digraph {{{CHAIN}}}"),
    "dot: braces": (read_graph, "graph.dot", "digraph " + "{" * 50_000),
    "dot: quotes": (read_graph, "graph.dot", 'digraph {"' + '\\"' * 50_000),
    "dot: attributes": (read_graph, "graph.dot", "digraph { a -> b [" + "x=1," * 50_000),
    "graphml: entities": (
        read_graph,
        "graph.graphml",
        f'<!DOCTYPE x [<!ENTITY e0 "ha">{ENTITIES}]>{DOCUMENT}<node id="&e9;"/></graph></graphml>',
    ),
    "graphml: depth": (
        read_graph,
        "graph.graphml",
        DOCUMENT + '<node id="a"><graph edgedefault="directed">' * 20_000,
    ),
    "gml: depth": (read_graph, "graph.gml", "graph [" * 30_000),
    "gml: digits": (
        read_graph,
        "graph.gml",
        f'graph [ directed 1 node [ id {DIGITS} label "a" ] ]',
    ),
    "json: depth": (read_graph, "graph.json", "[" * 200_000),
    "json: a name that is a list": (
        read_graph,
        "graph.json",
        f'{{"directed": true, "nodes": [{{"id": {"[" * 500}{"]" * 500}}}], "links": []}}',
    ),
    "arcs: digits": (read_graph, "graph.csv", f"source,target,weight\na,b,{DIGITS}\n"),
    "table: digits": (read_table, "table.csv", f"a,b\n{DIGITS},1\n2,3\n4,5\n"),
    "table: 400 digits": (read_table, "table.csv", f"a,b\n{DIGITS[:400]},1\n2,3\n4,5\n"),
    "table: an open quote": (read_table, "table.csv", 'a,b\n"' + "1\n" * 100_000),
    "table: long names": (read_table, "table.csv", f"{'a' * 100_000},b\n,1\n2,3\n4,5\n"),
    "yaml: truth": (read_knowledge, "known.yaml", 'tiers: [[!!bool "z"]]'),
    "yaml: time": (read_knowledge, "known.yaml", 'tiers: [[!!timestamp "z"]]'),
    "yaml: no digits": (read_knowledge, "known.yaml", 'tiers: [[!!int ""]]'),
    "yaml: itself": (read_knowledge, "known.yaml", "tiers: &a [*a]"),
    "yaml: merged": (read_knowledge, "known.yaml", f"a0: &a0 {{k: v}}\n{MERGED}"),
    "yaml: references": (
        read_knowledge,
        "known.yaml",
        "a0: &a0 [x]\n"
        + "".join(f"a{k + 1}: &a{k + 1} [{', '.join([f'*a{k}'] * 9)}]\n" for k in range(9)),
    ),
    "yaml: hours, minutes, seconds": (
        read_knowledge,
        "known.yaml",
        f"tiers: [[{':'.join(['59'] * 20_000)}]]",
    ),
    "toml: parts of a key": (read_knowledge, "known.toml", ".".join(["a"] * 20_000) + " = 1"),
    "toml: depth": (read_knowledge, "known.toml", "tiers = " + "[" * 50_000),
}


@pytest.mark.parametrize(("read", "name", "text"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_short_hostile_file_is_one_sentence_in_a_moment(
    tmp_path: Path, read: Callable[[Path], object], name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    sentence_of(read, path)


def test_yaml_that_is_nested_too_deeply(tmp_path: Path) -> None:
    """The memory is not traced, because that takes 30 times as long as reading the file."""
    (tmp_path / "known.yaml").write_text("[" * 30_000)
    assert "nested too deeply" in timed_sentence(read_knowledge, tmp_path / "known.yaml")


def test_long_names_are_shortened_in_the_middle() -> None:
    assert name_list(["a" * 100_000, "b"]) == f"'{'a' * 79}…{'a' * 40}', 'b'"
    assert str(DataError("x" * 10_000 + ": remedy")).endswith("x: remedy")
    assert len(str(DataError("x" * 10_000))) == 4_000


def test_a_wide_table_is_read_in_seconds(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    row = ",".join(["1"] * 8_000)
    path.write_text(f"{','.join(f'x{k}' for k in range(8_000))}\n{row}\n{row}\n")
    with processor_time_below(5):
        assert read_table(path).X.shape == (2, 8_000)


def test_a_matrix_of_many_nodes_is_written_row_by_row(tmp_path: Path) -> None:
    nodes = 2_000
    chain = Graph.from_arcs([f"n{k}" for k in range(nodes)], range(nodes - 1), range(1, nodes))
    tracemalloc.start()
    try:
        write_graph(chain, tmp_path / "graph.csv", "adjacency")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (tmp_path / "graph.csv").stat().st_size > 2 * nodes**2 > 3 * peak
    assert read_graph(tmp_path / "graph.csv", "adjacency") == chain
