"""``python -m cosmodag`` is the command line."""

from cosmodag.cli import program

if __name__ == "__main__":
    program()
