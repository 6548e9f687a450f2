"""Pin the dependencies to the lower bounds of `pyproject.toml`, so that the bounds can be tested.

Prints one line `name==bound` for each dependency, and for those of the requested extras. A bound
that does not resolve or fails the tests is raised in `pyproject.toml` to the lowest version that
works. In a new environment, with the whole suite:

    PYTHONS=python3.11 bash .ci/nightly lowest
"""

import argparse
import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)>=(?P<bound>[0-9.]+)(?P<marker>;.*)?")


def pinned(requirement: str) -> str:
    """Turn `name>=bound` into `name==bound`; a marker after a semicolon is kept.

    Examples
    --------
    >>> pinned("numpy>=2.0")
    'numpy==2.0'
    """
    match = REQUIREMENT.fullmatch(requirement)
    if match is None:
        raise SystemExit(f"{requirement!r} in {PROJECT.name} is not of the form name>=bound.")
    return f"{match['name']}=={match['bound']}{match['marker'] or ''}"


def lowest(extras: list[str]) -> list[str]:
    """List the pins of the package's dependencies and of these extras."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    return [pinned(one) for one in wanted if not one.startswith(f"{project['name']}[")]


def main() -> None:
    """Print the pins."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extras", nargs="*", default=["test"])
    print("\n".join(lowest(parser.parse_args().extras)))


if __name__ == "__main__":
    main()
