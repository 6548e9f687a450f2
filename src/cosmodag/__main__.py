"""The program ``cosmodag``, which is also run by ``python -m cosmodag``."""

import os
import signal
from types import FrameType
from typing import NoReturn


def program() -> NoReturn:
    """Import the command line and run it; Ctrl-C during the imports prints no traceback."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # not ignored, as it is in the background
        signal.signal(signal.SIGINT, _end)
    from cosmodag.cli import program as run

    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, before)
    run()


def _end(number: int, frame: FrameType | None) -> None:
    # The message and the exit code are those of `cosmodag.cli.terminal.signals`.
    os.write(2, b"error: interrupted by Ctrl-C.\n")
    os._exit(130)


if __name__ == "__main__":
    program()
