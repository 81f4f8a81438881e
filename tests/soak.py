"""How long the tests try: `make test` is short, `make soak` (REMIT_SOAK=1) tries everything.

What a long test checks is checked in `make test` as well, by a shorter test: fewer rounds, fewer
examples, or one representative of each kind.
"""

import os
from collections.abc import Sequence
from typing import Final, TypeVar

import pytest

T = TypeVar("T")

SOAK: Final = bool(os.environ.get("REMIT_SOAK"))

# A test that runs in `make soak` alone; tests/conftest.py leaves it out of `make test`.
only_in_soak: Final = pytest.mark.soak(only=True)


def examples(most: int) -> int:
    """Return how many examples a property is tried with."""
    return most if SOAK else max(10, most // 4)


def first_of(cases: Sequence[T], count: int = 1) -> list[object]:
    """Return test parameters: the first few in `make test`, all of them in `make soak`."""
    return [*cases[:count], *(pytest.param(case, marks=only_in_soak) for case in cases[count:])]
