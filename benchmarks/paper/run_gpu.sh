#!/usr/bin/env bash
# The reproduction of the paper on a machine with a GPU, in pieces of some minutes, resumably.
#
#   OUT=folder BUDGET=560 bash benchmarks/paper/run_gpu.sh
#
# Runs one experiment after the other, the most valuable first, until BUDGET seconds are over; the
# store is in $OUT/results.sqlite.gz after each, and at the end. To go on, put that file at
# build/bench/results.sqlite.gz (or name it in STORE) and run the same line again: what is in the
# store is not done again. At the very end the report is in $OUT/report.tar.gz.
#
#   EXPERIMENTS   which, in order (names, or .toml files); "NAME:timing" also times single fits
#   BUDGET        seconds in all (560)
#   STORE         what to go on with
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
[ -f "$earlier" ] && gunzip -c "$earlier" >"$store" && echo "going on with $earlier"

left() { echo $((budget - (SECONDS - began))); }

# A copy that is whole even while somebody writes, small enough to travel.
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

# Compiled code of the searches, made once while the first batches run on the GPU: every process
# that comes later finds it on the disk.
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
echo "── over after $((SECONDS - began)) s"
