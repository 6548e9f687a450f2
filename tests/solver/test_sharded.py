"""Several devices give the answer of one; they are simulated, in a process of their own."""

import os
import subprocess
import sys
from pathlib import Path

_SCRIPT = """
import jax, numpy as np
from solver_problems import SETTINGS, make_table
from cosmodag.mechanism import Linear
from cosmodag.solver.kernels.gpu import sharded
from cosmodag.solver.methods.anneal import Anneal
from cosmodag.solver.kernels.backends import BACKENDS
from cosmodag.solver.problems import Batch, Problem

assert len(jax.devices()) == 4
problem = Problem(make_table(d=12), SETTINGS, 5)
batch = Batch.of(Anneal(Linear()).recipe, [problem], jax.devices()[0])
state = sharded.start(batch)
shards = state.parameters["arcs"].addressable_shards
assert len({shard.device for shard in shards}) == 4
assert {shard.data.shape for shard in shards} == {(1, 12, 3)}
state = sharded.advance(batch, sharded.advance(batch, state, 0, 20), 20, 34)
assert {s.data.shape for s in state.mean["arcs"].addressable_shards} == {(1, 12, 3)}
xla = next(backend for backend in BACKENDS if backend.name == "xla")
alone = xla.advance(batch, batch.start(), 0, 34)
for group in ("arcs", "order"):
    np.testing.assert_allclose(
        np.asarray(state.parameters[group]), np.asarray(alone.parameters[group]), atol=1e-4
    )
assert len(sharded.devices_for(batch)) == 4
odd = Batch.of(batch.recipe, [Problem(make_table(d=9), SETTINGS, 5)], jax.devices()[0])
assert len(sharded.devices_for(odd)) == 3
print("agreed")
"""


def test_four_devices_agree_with_one():
    environment = {
        **os.environ,
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "PYTHONPATH": str(Path(__file__).parent),
    }
    result = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout == "agreed\n", result.stderr
