"""Shell completion of commands, options and parameters."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def complete():
    def complete(*words: str) -> list[str]:
        """Completions of the last word, requested as bash does."""
        done = subprocess.run(
            [sys.executable, "-m", "cosmodag"],
            env={
                **os.environ,
                "_COSMODAG_COMPLETE": "complete_bash",
                "COMP_WORDS": " ".join(["cosmodag", *words]),
                "COMP_CWORD": str(len(words)),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr == ""
        return done.stdout.split("\n")[:-1] if done.stdout else []

    return complete


def test_commands_and_methods(complete):
    assert {"fit", "convert", "methods"} <= set(complete(""))
    assert set(complete("fit", "t.csv", "--method", "notears")) == {"notears", "notears-mlp"}
    assert set(complete("methods", "dag")) == {"dagma", "dagma-mlp"}


def test_parameters_of_the_method(complete):
    assert complete("fit", "t.csv", "--set", "fam") == ["families="]
    assert complete("fit", "t.csv", "--method", "dagma", "--set", "lambda") == ["lambda1="]
    assert complete("fit", "t.csv", "--set", "zz") == [""]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_is_shown(shell):
    done = subprocess.run(
        [sys.executable, "-m", "cosmodag"],
        env={**os.environ, "_COSMODAG_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "_COSMODAG_COMPLETE" in done.stdout


def test_parameters_are_told_without_importing_anything_heavy():
    code = (
        "import sys; from cosmodag.cli.options.learners import complete_setting\n"
        "from types import SimpleNamespace as Context\n"
        "told = complete_setting(Context(params={'method': 'cosmo'}), 'loss=')\n"
        "words = [word for word, _ in told]\n"
        "print(words, [name for name in ('jax', 'numba') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['loss=squared-error', 'loss=likelihood'] []\n"
