"""The Ray engine on a real cluster of two nodes on this machine: nothing is lost with a node."""

import time
from collections.abc import Iterator

import engine_work as work
import pytest
from ray_cluster import LoopbackCluster

from cosmodag.engines import each
from cosmodag.errors import DataError

pytestmark = pytest.mark.optional


@pytest.fixture(scope="module")
def cluster() -> Iterator[LoopbackCluster]:
    pytest.importorskip("ray")
    with LoopbackCluster() as cluster:
        yield cluster


def test_what_goes_wrong_is_a_value(cluster: LoopbackCluster) -> None:
    items = range(5)
    results = dict(each(work.uneven, items, engine="ray", address=cluster.address, timeout=1.0))
    assert {place: getattr(result, "status", result) for place, result in results.items()} == {
        0: 0,
        1: "failed",
        2: "diverged",
        3: "timeout",
        4: 4,
    }


def test_every_item_is_done_once_whoever_is_lost(cluster: LoopbackCluster) -> None:
    """The last test here: it loses a node."""
    killed, places = 0, []
    running = each(time.sleep, [0.2] * 40, engine="ray", address=cluster.address, retries=20)
    for place, result in running:
        places.append(place)
        assert result is None
        if len(places) < 20 and killed < 3:
            killed += cluster.kill_worker(min)
        if len(places) == 20:
            cluster.kill_node()
    assert killed
    assert sorted(places) == list(range(40))


def test_ray_that_cannot_be_reached_is_a_sentence() -> None:
    pytest.importorskip("ray")
    with pytest.raises(DataError, match="Ray cannot be reached"):
        list(each(work.doubled, [1], engine="ray", address="not an address"))
