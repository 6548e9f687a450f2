"""A table and its graph are read from two files."""

from pathlib import Path

import numpy as np
import pytest

from cosmodag.errors import DataError, DataWarning
from cosmodag.graph.dags import is_dag
from cosmodag.io import Dataset, read_dataset


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    table, graph = tmp_path / "weather.csv", tmp_path / "arcs.csv"
    table.write_text("wet,rain,cold\n2,1,0\n1,0,3\n")
    graph.write_text("Cause,Effect\nrain,wet\n")
    return table, graph


def test_a_pair_of_files_becomes_a_data_set(pair: tuple[Path, Path]) -> None:
    data = read_dataset(*pair)
    assert isinstance(data, Dataset)
    assert (data.name, data.seed, data.names) == ("weather", None, ("wet", "rain", "cold"))
    assert data.X.tolist() == [[2, 1, 0], [1, 0, 3]]
    assert data.weights is None
    assert np.argwhere(data.graph).tolist() == [[1, 0]]


def test_weights_of_the_edge_list_are_kept(pair: tuple[Path, Path]) -> None:
    pair[1].write_text("source,target,weight\nrain,wet,-0.5\nrain,cold,0\n")
    data = read_dataset(*pair)
    assert data.weights[1].tolist() == [-0.5, 0, 0]
    assert data.graph[1].tolist() == [True, False, True]  # an arc may have weight zero


def test_names_that_do_not_agree_are_refused(pair: tuple[Path, Path]) -> None:
    pair[1].write_text("Cause,Effect\nRain,wet\n")
    with pytest.raises(DataError, match=r"arcs\.csv.*weather\.csv.*Rain"):
        read_dataset(*pair)


def test_a_cyclic_graph_warns(pair: tuple[Path, Path]) -> None:
    pair[1].write_text("Cause,Effect\nrain,wet\nwet,rain\n")
    with pytest.warns(DataWarning, match=r"arcs\.csv.*cycle"):
        data = read_dataset(*pair)
    assert data.graph.sum() == 2


def test_missing_files_and_values_are_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere"):
        read_dataset(tmp_path / "nowhere.csv", pair[1])
    with pytest.raises(DataError, match="nowhere"):
        read_dataset(pair[0], tmp_path / "nowhere.csv")
    pair[0].write_text("wet,rain,cold\n2,1,\n1,0,3\n0,0,1\n")
    with pytest.raises(DataError, match="cold"):
        read_dataset(*pair)
    with pytest.warns(DataWarning):
        assert read_dataset(*pair, missing="drop").X.shape == (2, 3)


def test_sachs_is_read_from_its_two_files(sachs: Path) -> None:
    with pytest.warns(DataWarning, match="cycle"):
        data = read_dataset(sachs / "sachs.csv", sachs / "sachs_edges.csv")
    assert data.X.shape == (7466, 11)
    assert data.graph.sum() == 18
    position = {name: index for index, name in enumerate(data.names)}
    assert data.graph[position["PKA"], position["praf"]]
    assert not data.graph[position["praf"], position["PKA"]]


def test_the_consensus_on_sachs_is_a_dag_of_seventeen_arcs(sachs: Path) -> None:
    data = read_dataset(sachs / "sachs.csv", sachs / "sachs_consensus.csv")
    assert is_dag(data.graph)
    assert data.graph.sum() == 17
