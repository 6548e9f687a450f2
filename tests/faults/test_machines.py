"""Limits on memory and cores: errors before allocation, and one thread for one core."""

import json

import numpy as np
import pytest
from control_groups import run_limited

import cosmodag.fit.pipeline as pipeline
import cosmodag.fit.prepare as prepare
import cosmodag.runtime.memory as memory
from cosmodag import Cosmo, Dagma, EmptyGraph, EqualVariance, Notears, OrderSearch, VarianceSort
from cosmodag.errors import ResourceError

GIB = 2**30

LIMITED = """
import json, os, resource, sys, threading
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
import numpy as np
from cosmodag import Cosmo, OrderSearch
from cosmodag.errors import ResourceError
from cosmodag.runtime.memory import main_memory
from cosmodag.runtime.threads import available_threads, cores
facts = {"cores": cores(), "threads": available_threads(), "left": main_memory()}
table = np.random.default_rng(0).normal(size=(50, 20_000))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for learner in (Cosmo(epochs=2), OrderSearch()):
    try:
        learner.fit(table)
    except ResourceError as error:
        facts[type(learner).__name__] = str(error)
facts["grown"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
Cosmo(epochs=1, trainings=4, random_state=0).fit(table[:, :6])  # JAX itself starts a timer once
started = set()
threading.setprofile(lambda frame, *event: started.add(frame.f_code.co_filename))
Cosmo(epochs=3, trainings=4, random_state=0).fit(table[:, :6])
facts["started"] = sorted({os.path.basename(file) for file in started})
print(json.dumps(facts))
"""


@pytest.mark.machine
def test_in_two_gibibytes_with_one_processor():
    done = run_limited(LIMITED, memory=2 * GIB)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout.splitlines()[-1])
    assert facts["left"] < 2 * GIB
    assert facts["cores"] == facts["threads"] == 1
    assert facts["started"] == []  # the main thread did all the work
    assert "Cosmo on 20,000 columns needs about 4.5 GiB, but only 1." in facts["Cosmo"]
    assert "OrderSearch on 20,000 columns needs about 4." in facts["OrderSearch"]
    assert facts["grown"] < 0.7 * 2**20  # KiB: imports and the table, no matrix of 20,000²


@pytest.mark.parametrize(
    ("learner", "columns"),
    [
        (Cosmo(epochs=2), 5500),
        (Cosmo(refine="order"), 6500),
        (Notears(), 1000),
        (Dagma(), 4000),
        (OrderSearch(), 4000),
        (EqualVariance(), 4000),
        (VarianceSort(), 3000),
        (EmptyGraph(), 4000),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_what_cannot_fit_is_refused_with_both_figures(monkeypatch, learner, columns):
    for module in (prepare, memory):
        monkeypatch.setattr(module, "main_memory", lambda: GIB // 2)

    def never(*args, **kwargs):
        raise AssertionError("went on")

    monkeypatch.setattr(pipeline, "settled", never)
    table = np.random.default_rng(0).normal(size=(20, columns))
    with pytest.raises(ResourceError, match=r"needs about \d\.\d GiB, but only 0\.4 GiB"):
        learner.fit(table)
