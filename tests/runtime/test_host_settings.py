"""What a program has set for JAX itself: a fit works, or fails in one sentence."""

import jax
import numpy as np
import pytest

import cosmodag
from cosmodag import Dagma
from cosmodag.errors import DataError
from cosmodag.runtime import devices


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
@pytest.mark.parametrize("own", [jax.debug_nans(True), jax.transfer_guard("disallow")])
def test_checks_of_the_program_do_not_hold_in_a_fit(own):
    X = np.random.default_rng(0).normal(size=(100, 4))
    expected = Dagma(max_iter=50, verbose=False).fit(X).raw_weights_
    with own:
        np.testing.assert_array_equal(
            Dagma(max_iter=50, verbose=False).fit(X).raw_weights_, expected
        )


@pytest.mark.parametrize("name", ["auto", "gpu"])
def test_a_platform_that_cannot_start_is_one_sentence(monkeypatch, name):
    def fail(platform=None):
        raise AssertionError

    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    monkeypatch.setattr(jax, "devices", fail)
    with pytest.raises(DataError, match=r"JAX cannot start with JAX_PLATFORMS=cuda: leave"):
        devices.device_named(name)


def test_interrupts_say_little():
    from cosmodag.fit.pipeline import FitInterrupt

    assert len(str(FitInterrupt([np.zeros((1000, 1000))] * 3))) < 100


def test_the_public_diagnosis():
    assert cosmodag.diagnose(np.random.default_rng(0).normal(size=(50, 3))) is not None
