"""The program ``cosmodag``, which is also run by ``python -m cosmodag``."""

import sys
from typing import NoReturn


def program() -> NoReturn:
    """Import the command line and run it; Ctrl-C during the imports prints no traceback."""
    try:
        from cosmodag.cli import program as run
    except KeyboardInterrupt:
        # The message and the exit code are those of `cosmodag.cli.terminal.signals`.
        sys.stderr.write("error: interrupted by Ctrl-C.\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    program()
