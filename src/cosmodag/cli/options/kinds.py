"""What columns hold, as the options say: from a file or by name."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosmodag.errors import DataError

__all__ = ["AskedKinds"]


@dataclass(frozen=True)
class AskedKinds:
    """What the options say of columns: the content of ``--kinds``, and names by kind.

    Names are as the options give them, separated by commas.
    """

    of_file: dict[str, Any]
    of_options: dict[str, list[str]]

    @classmethod
    def of(
        cls,
        kinds: Path | None,
        categorical: list[str] | None = None,
        ordinal: list[str] | None = None,
        count: list[str] | None = None,
    ) -> "AskedKinds":
        """Read the file, and keep what the other options say."""
        options = {"categorical": categorical, "ordinal": ordinal, "count": count}
        given = {kind: names for kind, names in options.items() if names}
        return cls({} if kinds is None else _read_kinds(kinds), given)

    @property
    def declared(self) -> Collection[str]:
        """Names of columns that hold levels, before the names of the table are known."""
        from cosmodag.data.kinds import declared_names

        whole = self.of_options.get("categorical", [])
        parts = [part.strip() for entry in whole for part in entry.split(",")]
        return {*declared_names(self.of_file, None), *whole, *parts}

    def among(self, names: Sequence[str]) -> dict[str, Any] | None:
        """Kinds by the names of a table; None if nothing was said."""
        from cosmodag.io.columns.names import choose_columns

        found = dict(self.of_file)
        for kind, asked in self.of_options.items():
            for place in choose_columns(names, asked):
                if names[place] in found:
                    raise DataError(f"The kind of {names[place]!r} is given twice: give it once.")
                found[names[place]] = kind
        return found or None


def _read_kinds(path: Path) -> dict[str, Any]:
    """Read a file that maps names of columns to their kinds."""
    from cosmodag.data.kinds import check_kinds
    from cosmodag.io.files import read_text
    from cosmodag.io.files.documents import DOCUMENTS

    reader = DOCUMENTS.get(path.suffix.lower())
    if reader is None:
        raise DataError(
            f"'{path}' has no known format for kinds: give a file that ends in .yaml, .toml or "
            ".json."
        )
    text = read_text(path)
    try:
        content = reader(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"'{path}' cannot be read: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise DataError(f"'{path}' holds no kinds by name, such as 'region: categorical'.")
    found = {str(name): kind for name, kind in content.items()}
    try:
        check_kinds(found)
    except DataError as error:
        raise DataError(f"'{path}': {error}") from error
    return found
