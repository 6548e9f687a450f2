"""``python -m cosmodag`` is the command line."""

import sys

from cosmodag.cli import main

if __name__ == "__main__":
    sys.exit(main())
