"""Protein signalling, from a table to a report: knowledge, interventions, bootstrap.

The table (Sachs et al., 2005) has logarithms of the levels of 11 proteins in 5,846 cells. In most
rows one protein was activated or inhibited, and the column `target` names it. As an example of
background knowledge, PKC and PKA are stated not to be caused by their known targets. The true graph
is not known: the consensus of the literature has 17 arcs, and these interventions are not perfect.
The example shows how to read a report; it is no result about biology.
"""

import argparse
import tempfile
import warnings
from pathlib import Path

import pandas as pd

from cosmodag import Knowledge, OrderSearch
from cosmodag.assess.bootstrapping import bootstrap
from cosmodag.errors import CosmodagWarning

DATA = Path(__file__).parent / "data"


def main() -> None:
    """Learn from the experiments, estimate how certain each arc is, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows and resamples")
    parser.add_argument("--report", type=Path, help="file to write the report to")
    options = parser.parse_args()
    table = pd.read_csv(DATA / "sachs_interventional.csv")
    if options.quick:
        table = table.groupby("target", dropna=False).head(60)
    warnings.simplefilter("ignore", CosmodagWarning)  # the report shows all warnings

    known = Knowledge(tiers=[["PKC"], ["PKA"], ["praf", "pmek", "P38", "pjnk"]])
    model = OrderSearch(knowledge=known, random_state=0).fit(table, interventions="target")
    print(f"{model.graph_.number_of_edges()} arcs; causes first: {', '.join(model.causal_order_)}")

    resamples = 10 if options.quick else 200
    sure = bootstrap(
        model, table, n=resamples, interventions="target", random_state=0, verbose=False
    )
    print(f"edges, with the fraction of {resamples} resamples that have and that direct each so:")
    for pair in sure.edges().head(8).itertuples():
        print(f"  {pair.cause} → {pair.effect}  {pair.joined:.2f}  {pair.directed:.2f}")

    consensus = pd.read_csv(DATA / "sachs_consensus.csv")
    truth = set(consensus.itertuples(index=False, name=None))
    found = set(model.graph_.edges)
    backwards = {(effect, cause) for cause, effect in found}
    print(
        f"of the 17 arcs of the consensus, {len(found & truth)} are found and "
        f"{len(backwards & truth)} are reversed; the graph has {len(found)} arcs"
    )
    with tempfile.TemporaryDirectory() as folder:
        page = options.report or Path(folder) / "sachs.html"
        model.report(page, data=table.drop(columns="target"), bootstrap=sure)
        print(f"report: {page.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
