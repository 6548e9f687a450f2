"""Many machines: a bootstrap on this machine and, with the same result, on a Ray cluster.

Without ``--address``, Ray is started on this machine. On a cluster, give the address of its head
node, or "auto" on one of its nodes; nothing else changes.
"""

import argparse
import warnings

import numpy as np
import ray

from cosmodag import OrderSearch, simulate
from cosmodag.assess.bootstrapping import bootstrap
from cosmodag.errors import CosmodagWarning


def main() -> None:
    """Run the bootstrap with both engines, and compare the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer variables and resamples")
    parser.add_argument("--address", help="address of the head node of a cluster")
    options = parser.parse_args()
    d, resamples = (6, 4) if options.quick else (30, 200)
    data = simulate.load(f"n300_d{d}_ER2_gauss", seed=0)
    warnings.simplefilter("ignore", CosmodagWarning)

    model = OrderSearch(random_state=0)
    here = bootstrap(model, data.X, n=resamples, random_state=0, verbose=False)
    there = bootstrap(
        model,
        data.X,
        n=resamples,
        random_state=0,
        verbose=False,
        engine="ray",
        address=options.address,
    )
    ray.shutdown()
    same = np.array_equal(here.arc_probabilities, there.arc_probabilities)
    print(f"{len(there.done)} resamples on Ray; same probabilities as on this machine: {same}")


if __name__ == "__main__":
    main()
