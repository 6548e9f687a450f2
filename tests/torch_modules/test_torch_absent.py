"""Without PyTorch the package works, and the error of cosmodag.torch says what to install."""

import subprocess
import sys

WITHOUT = """
import sys
sys.modules["torch"] = None
import cosmodag
try:
    import cosmodag.torch
except ImportError as error:
    print(error)
"""


def test_the_extra_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    assert "pip install 'cosmodag[torch]'" in done.stdout
