"""A fit that is interrupted anywhere and resumed has a bit-identical result."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from cosmodag import Cosmo, CosmoMLP, EqualVariance
from cosmodag.errors import DataError
from cosmodag.io.files import read_model, write_model
from cosmodag.solve.watch import Watch
from learner_catalogue import chain_table

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
EPOCHS = 400
LEARNERS = {
    "linear": Cosmo(epochs=40, random_state=0, verbose=False),
    "trainings": Cosmo(epochs=40, trainings=3, refine=None, random_state=0, verbose=False),
    "likelihood": Cosmo(epochs=40, loss="likelihood", refine=None, random_state=0, verbose=False),
    "networks": CosmoMLP(epochs=20, hidden=(3,), refine=None, random_state=0, verbose=False),
}


class StopsAfter:
    """A replacement for the clock that stops a run at its n-th check."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def __call__(self, watch: Watch) -> str | None:
        self.looks -= 1
        return "interrupt" if self.looks < 0 else None


def same(first, second) -> bool:
    names = ("raw_weights_", "weights_", "adjacency_", "priorities_")
    equal = all(np.array_equal(getattr(first, name), getattr(second, name)) for name in names)
    return equal and first.history_ == second.history_ and first.n_iter_ == second.n_iter_


@pytest.mark.parametrize("name", LEARNERS)
def test_interrupted_again_and_again(name, tmp_path, monkeypatch):
    learner, table = LEARNERS[name], chain_table()
    reference = clone(learner).fit(table)
    kept = type(learner)(**{**learner.get_params(), "checkpoint": tmp_path})
    random = np.random.default_rng(2)
    stops, done = 0, []
    while True:
        # The search after training keeps no record, so it would never end if it were stopped at
        # every eighth check. The twenty-first fit is therefore not stopped.
        stop = StopsAfter(int(random.integers(1, 8)) if stops < 20 else 10**6)
        with monkeypatch.context() as patched:
            patched.setattr(Watch, "stop", property(stop))
            kept.fit(table)
        if kept.stopped_ is None:
            break
        stops += 1
        # Networks that are trained again with another loss have a second record.
        done.append(sum(read_model(record)[1]["done"] for record in tmp_path.iterdir()))
    # Every fit resumes where the previous one was stopped.
    assert done == sorted(done)
    assert len(set(done)) > 2
    assert same(kept, reference)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("change", [{"random_state": 1}, {"lambda1": 0.3}, {"epochs": 41}], ids=str)
def test_another_fit_takes_no_notice(tmp_path, monkeypatch, change):
    table, settings = chain_table(), {"epochs": 40, "random_state": 0, "refine": None}
    with monkeypatch.context() as patched:
        patched.setattr(Watch, "stop", property(StopsAfter(3)))
        Cosmo(**settings, checkpoint=tmp_path).fit(table)
    other = Cosmo(**{**settings, **change}, checkpoint=tmp_path).fit(table)
    assert same(other, Cosmo(**{**settings, **change}).fit(table))
    assert len(list(tmp_path.iterdir())) == 1


def test_a_damaged_file_is_refused(tmp_path, monkeypatch):
    table, model = chain_table(), Cosmo(epochs=40, random_state=0, checkpoint=tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Watch, "stop", property(StopsAfter(3)))
        model.fit(table)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match="damaged"):
        model.fit(table)


def test_a_record_of_more_rounds_than_there_are_is_refused(tmp_path, monkeypatch):
    table, model = chain_table(), Cosmo(epochs=40, random_state=0, checkpoint=tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Watch, "stop", property(StopsAfter(3)))
        model.fit(table)
    (path,) = tmp_path.iterdir()
    arrays, facts = read_model(path)
    write_model(path, arrays, {**facts, "done": 10**6})
    with pytest.raises(DataError, match="damaged"):
        model.fit(table)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="checkpoint"):
        Cosmo(checkpoint=tmp_path / "file" / "below").fit(chain_table())


def test_only_learners_that_can_take_it():
    assert "checkpoint" not in EqualVariance().get_params()


# Reports when the n-th record is written and continues, so that a signal arrives before the next.
SCRIPT = """
import sys, time, warnings
import numpy as np
from cosmodag import Cosmo
from cosmodag.solve.training import train
train.SAVE_EVERY = 0.0
save, left = train.Checkpoint.save, int(sys.argv[3])
def tell(self, *given, **options):
    global left
    save(self, *given, **options)
    left -= 1
    if left == 0:
        print("kept", flush=True)
    elif left < 0:
        time.sleep(3600)
train.Checkpoint.save = tell
warnings.simplefilter("ignore")
X = np.load(sys.argv[1], allow_pickle=False)
Cosmo(epochs=EPOCHS, refine=None, random_state=0, checkpoint=sys.argv[2]).fit(X)
""".replace("EPOCHS", str(EPOCHS))


@pytest.mark.parametrize("records", [(2,), pytest.param((1, 3, 2), marks=pytest.mark.nightly)])
def test_killed_in_the_middle(tmp_path, records):
    table, folder = tmp_path / "X.npy", tmp_path / "kept"
    np.save(table, chain_table().to_numpy())
    names = set()
    for number in records:
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(table), str(folder), str(number)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "kept\n"
        process.send_signal(signal.SIGKILL)
        process.communicate()
        names |= {path.name for path in folder.glob("*.safetensors")}
    (name,) = names
    assert read_model(folder / name)[1]["done"] > 0
    X, settings = np.load(table), {"epochs": EPOCHS, "refine": None, "random_state": 0}
    assert same(Cosmo(**settings, checkpoint=folder).fit(X), Cosmo(**settings).fit(X))
    assert list(folder.iterdir()) == []
