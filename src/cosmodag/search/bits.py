"""Small sets of variables, stored as the bits of one integer: fast to join and to compare."""

from collections.abc import Iterable


def as_bits(numbers: Iterable[int]) -> int:
    """Encode a set of numbers as the bits of an integer.

    Examples
    --------
    >>> as_bits([0, 3]), members(9)
    (9, [0, 3])
    """
    bits = 0
    for number in numbers:
        bits |= 1 << number
    return bits


def members(bits: int) -> list[int]:
    """List the numbers of a set that is encoded as bits, in ascending order."""
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found
