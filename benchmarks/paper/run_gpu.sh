#!/usr/bin/env bash
# Reproduce the paper on a machine with a GPU, in resumable pieces of some minutes.
#
#   OUT=folder BUDGET=560 bash benchmarks/paper/run_gpu.sh
#
# Runs the experiments one after another, the most important first, until BUDGET seconds are over.
# After each, and at the end, the store is copied to $OUT/results.sqlite.gz. To continue, put that
# file at build/bench/results.sqlite.gz (or name it in STORE) and run the same command again: results
# in the store are not computed again. At the end the report is in $OUT/report.tar.gz.
#
#   EXPERIMENTS   names or .toml files, in order; "NAME:timing" also times single fits
#   BUDGET        total seconds (560)
#   STORE         store of an earlier run, to continue
#   PYTHON        the interpreter (python)
set -u

began=$SECONDS
budget=${BUDGET:-560}
out=${OUT:-build/bench/out}
earlier=${STORE:-build/bench/results.sqlite.gz}
python=${PYTHON:-python}
experiments=${EXPERIMENTS:-"paper-linear ablation defaults epoch-time paper-nonlinear baselines paper-linear:timing paper-nonlinear:timing"}
export PYTHONPATH=src PYTHONUNBUFFERED=1 XLA_PYTHON_CLIENT_MEM_FRACTION=${XLA_PYTHON_CLIENT_MEM_FRACTION:-0.9}

scratch=$(mktemp -d)
store=$scratch/results.sqlite
mkdir -p "$out"
[ -f "$earlier" ] && gunzip -c "$earlier" >"$store" && echo "continuing $earlier"

left() { echo $((budget - (SECONDS - began))); }

# Copy the store consistently during writes, and compress the copy.
keep() {
  [ -f "$store" ] || return 0
  $python - "$store" "$scratch/copy.sqlite" <<'COPY' && gzip -c "$scratch/copy.sqlite" >"$out/part.gz" &&
import sqlite3, sys
source, copy = sqlite3.connect(sys.argv[1]), sqlite3.connect(sys.argv[2])
source.backup(copy)
copy.execute("PRAGMA journal_mode = DELETE")
print(f"store: {copy.execute('SELECT count(*) FROM cells').fetchone()[0]} cells", flush=True)
copy.close()
COPY
    mv "$out/part.gz" "$out/results.sqlite.gz"
  rm -f "$scratch/copy.sqlite"
}

# Compile the searches once while the first batches run on the GPU: later processes read the
# compiled programs from the disk.
warm_up() {
  JAX_PLATFORMS=cpu exec $python -W ignore - >/dev/null 2>&1 <<'WARM'
from cosmodag import Cosmo, OrderSearch, EqualVariance, VarianceSort, R2Sort, simulate
for noise in ("gauss", "exp", "gumbel"):
    X = simulate.load(f"n300_d12_ER2_{noise}", seed=0).X
    for table in (X, X / X.std(0)):
        for model in (Cosmo(verbose=False), OrderSearch(), EqualVariance(), VarianceSort(), R2Sort()):
            model.fit(table)
WARM
}
warm_up &
warming=$!

for one in $experiments; do
  [ "$(left)" -gt 20 ] || break
  name=${one%%:*}
  timing=--no-timing
  [ "$one" != "$name" ] && timing=--timing
  echo "── $one, $(left) s left"
  timeout --signal=INT --kill-after=15 "$(($(left) - 15))" \
    $python -W ignore -m cosmodag bench run "$name" --store "$store" "$timing" --json
  echo "── $one: exit $? after $((SECONDS - began)) s"
  keep
done
kill "$warming" 2>/dev/null
if [ "$(left)" -gt 25 ]; then
  timeout "$(left)" $python -W ignore -m cosmodag bench report --store "$store" -o "$scratch/report" &&
    tar -C "$scratch" -czf "$out/report.tar.gz" report
fi
rm -rf "$scratch"
echo "── ended after $((SECONDS - began)) s"
