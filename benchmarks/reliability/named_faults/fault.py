"""A fault: text in the sources, its replacement, and the tests that should fail."""

from dataclasses import dataclass

__all__ = ["Fault"]


@dataclass(frozen=True)
class Fault:
    """One small, plausible error.

    Attributes
    ----------
    name
        Description of the error in a few words.
    file
        Source file, below ``src/cosmodag``.
    old, new
        Text that occurs in the file exactly once, and its replacement.
    tests
        Files of tests or single tests, below ``tests``, that should fail.
    was_missed
        Whether no test noticed it before this list was made.
    excuse
        Reason why no test can be expected to notice it, if there is one.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    was_missed: bool = False
    excuse: str = ""

    def changed(self, source: str) -> str:
        """Put the fault into the text of its file."""
        if source.count(self.old) != 1:
            raise ValueError(
                f"{self.name!r}: its text occurs {source.count(self.old)} times in {self.file}"
            )
        if self.old == self.new:
            raise ValueError(f"{self.name!r} changes nothing")
        return source.replace(self.old, self.new)
