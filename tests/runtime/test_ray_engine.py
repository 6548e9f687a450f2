"""The Ray engine on a cluster of two nodes on this machine: no item is lost with a node."""

from collections.abc import Iterator
from pathlib import Path

import engine_work as work
import pytest
from ray_cluster import LoopbackCluster, wait_for

from cosmodag.errors import DataError
from cosmodag.runtime.engines import each

pytestmark = pytest.mark.optional


@pytest.fixture(scope="module")
def cluster() -> Iterator[LoopbackCluster]:
    pytest.importorskip("ray")
    with LoopbackCluster() as cluster:
        yield cluster


def test_an_error_is_a_failure_of_its_item(cluster: LoopbackCluster) -> None:
    results = dict(each(work.fail_for_some, range(4), engine="ray", address=cluster.address))
    assert {place: getattr(result, "status", result) for place, result in results.items()} == {
        0: 0,
        1: "failed",
        2: "diverged",
        3: 3,
    }


def test_every_item_is_done_once_after_losses_of_workers_and_nodes(
    cluster: LoopbackCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One node is killed; the other tests only need the head, so they may run in any order."""
    mark, places = tmp_path / "go on", []
    items = [(number, str(mark)) for number in range(40)]
    monkeypatch.setattr("cosmodag.runtime.engines._RETRIES", 20)
    for place, result in each(work.wait_for_file, items, engine="ray", address=cluster.address):
        places.append(place)
        assert result is None
        if len(places) == 1:  # the other items wait, so that a worker can be found
            for _ in range(3):
                wait_for(lambda: cluster.kill_worker(min), "a worker at work")
            mark.touch()
        if len(places) == 20:
            cluster.kill_node()
    assert mark.exists()
    assert sorted(places) == list(range(40))


def test_ray_that_cannot_be_reached_is_an_error() -> None:
    pytest.importorskip("ray")
    with pytest.raises(DataError, match="Ray cannot be reached"):
        list(each(work.double, [1], engine="ray", address="not an address"))
