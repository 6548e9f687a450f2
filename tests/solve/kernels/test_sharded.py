"""Several devices give the same result as one; a subprocess simulates them."""

import os
import subprocess
import sys
from pathlib import Path

_SCRIPT = """
import jax, numpy as np
from solver_problems import RECIPE, SETTINGS, reference_batch, make_table
from cosmodag.solve.kernels.gpu import sharded
from cosmodag.solve.problems import Problem
from cosmodag.solve.training import loop
from cosmodag.solve.training.loop import REFERENCE

traced = []

def counting(*arguments):
    traced.append("traced")
    return loop.run_many(*arguments)

sharded.run_many = counting
assert len(jax.devices()) == 4
d, random = 12, np.random.default_rng(0)
gaps = np.full((d, d), -np.inf)
gaps[3, 0] = 1
required = np.zeros((d, d), bool)
required[3, 0] = True
known = {
    "support": random.random((d, d)) < 0.7,
    "required": required,
    "gaps": gaps,
    "counted": random.integers(0, 3, (150, d)),
}
batch = reference_batch([Problem(make_table(d=d), SETTINGS, 5, **known)])
state = sharded.start(batch)
shards = state.parameters["arcs"].addressable_shards
assert len({shard.device for shard in shards}) == 4
assert {shard.data.shape for shard in shards} == {(1, 12, 3)}
for first, last in ((0, 4), (4, 20), (20, 34)):
    state = sharded.advance(batch, state, first, last)
assert {s.data.shape for s in state.mean["arcs"].addressable_shards} == {(1, 12, 3)}
# One program is compiled, into however many pieces the run is divided.
assert traced == ["traced"], traced
alone = REFERENCE.advance(batch, batch.start(), 0, 34)
for group in ("arcs", "order"):
    np.testing.assert_allclose(
        np.asarray(state.parameters[group]), np.asarray(alone.parameters[group]), atol=1e-4
    )
assert len(sharded.devices_for(12, "cpu")) == 4
assert len(sharded.devices_for(9, "cpu")) == 3
print("agreed")
"""


def test_four_devices_agree_with_one_in_one_program():
    here = str(Path(__file__).parents[1])
    flags = (os.environ.get("XLA_FLAGS"), "--xla_force_host_platform_device_count=4")
    environment = {
        **os.environ,
        "XLA_FLAGS": " ".join(filter(None, flags)),
        "PYTHONPATH": os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH")))),
    }
    result = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout == "agreed\n", result.stderr
