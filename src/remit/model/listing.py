"""Lists for a sentence."""

from collections.abc import Sequence


def first_few(names: Sequence[str], most: int) -> str:
    """The first names of a list, and how many more there are: `a.py, b.py and 3 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")
