"""Run the command line as ``python -m cosmodag``."""

from cosmodag.cli import program

if __name__ == "__main__":
    program()
