"""Columns that come before others by their names, and a knowledge file that says so."""

import json
import re
from collections.abc import Iterable, Sequence

# Words of the names of attributes that persons are born with, and of those that only time changes.
_BORN = {"sex", "gender", "female", "male", "race", "ethnicity", "ethnic", "birth", "born"}
_IN_TIME = {"age", "year", "date", "month", "day", "quarter", "time", "cohort", "birthyear"}


def early_columns(names: Iterable[object]) -> list[list[str]]:
    """List the columns that no other column can cause, in tiers, by the words of their names.

    >>> early_columns(["smokes", "Sex", "birth_year", "ageAtEntry", "wage"])
    [['Sex', 'birth_year'], ['ageAtEntry']]
    """
    tiers: list[list[str]] = [[], []]
    for name in map(str, names):
        words = set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower()))
        if words & _BORN:
            tiers[0].append(name)
        elif words & _IN_TIME:
            tiers[1].append(name)
    return [tier for tier in tiers if tier]


def tiers_file(names: Sequence[object]) -> str:
    """Write a knowledge file (YAML) with these columns in the first tiers, all others in the last.

    >>> print(tiers_file(["dose", "age", "sex"]), end="")
    # A column may depend on columns of its own and of earlier tiers only: correct this by hand.
    tiers:
    - ["sex"]
    - ["age"]
    - ["dose"]
    """
    first = early_columns(names)
    early = {name for tier in first for name in tier}
    tiers = [*first, [str(name) for name in names if str(name) not in early]]
    lines = [f"- {json.dumps(tier, ensure_ascii=False)}" for tier in tiers if tier]
    head = "# A column may depend on columns of its own and of earlier tiers only: correct this by"
    return "\n".join([f"{head} hand.", "tiers:", *lines]) + "\n"
