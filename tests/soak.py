"""How long the tests try: `make test` is short, `make soak` (REMIT_SOAK=1) tries everything.

What a long test checks is checked in `make test` as well, by a shorter test: fewer rounds, fewer
examples, or one representative of each kind.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeVar
from zlib import crc32

import pytest

T = TypeVar("T")

SOAK: Final = bool(os.environ.get("REMIT_SOAK"))

# A test that runs in `make soak` alone; tests/conftest.py leaves it out of `make test`.
only_in_soak: Final = pytest.mark.soak(only=True)

# Of a test with several parameters: cases in which each value of each of them occurs.
each_value: Final = pytest.mark.sampled()


def one_in(step: int, start: int | None = None) -> pytest.MarkDecorator:
    """Of a test with many cases: each so many-th one. Each test starts at another, by its name."""
    return pytest.mark.sampled(step=step, start=start)


def one_of(name: str) -> pytest.MarkDecorator:
    """Of a parameter that the tests of a module share: one value for each, now this, now that."""
    return pytest.mark.sampled(of=name)


def left_to_soak(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """What only `make soak` runs: tests marked so, and the cases that the samples leave out."""
    left = {each for each in items if any(m.kwargs.get("only") for m in each.iter_markers("soak"))}
    sampled: dict[str, list[pytest.Function]] = defaultdict(list)
    for each in items:
        if each.get_closest_marker("sampled") and hasattr(each, "callspec") and each not in left:
            assert isinstance(each, pytest.Function)
            sampled[each.nodeid.partition("[")[0]].append(each)
    for cases in sampled.values():
        left |= set(cases) - _sample(sorted(cases, key=_place))
    return left


def _sample(cases: list[pytest.Function]) -> set[pytest.Function]:
    mark = cases[0].get_closest_marker("sampled")
    assert mark
    turn = crc32(cases[0].nodeid.partition("[")[0].encode()) >> 16
    if of := mark.kwargs.get("of"):
        return set(_one_value(cases, of, turn))
    if step := mark.kwargs.get("step"):
        start = mark.kwargs["start"]
        return set(cases[turn % min(step, len(cases)) if start is None else start :: step])
    chosen: set[pytest.Function] = set()
    seen: set[tuple[str, int]] = set()
    for fits in (set.isdisjoint, lambda values, seen: values - seen):
        for each in cases:
            values = {(name, id(value)) for name, value in each.callspec.params.items()}
            if fits(values, seen):
                chosen.add(each)
                seen |= values
    return chosen


def _one_value(cases: list[pytest.Function], of: str, turn: int) -> Iterator[pytest.Function]:
    alike: dict[object, list[pytest.Function]] = defaultdict(list)
    for each in cases:
        params = each.callspec.params.items()
        alike[tuple(id(value) for name, value in params if name != of)].append(each)
    for n, values in enumerate(alike.values(), turn):
        yield from [values[n % len(values)]] if of in values[0].callspec.params else values


def _place(case: pytest.Function) -> int:
    return max(case.callspec.indices.values())


def examples(most: int) -> int:
    """How many examples a property is tried with."""
    return most if SOAK else max(10, most // 8)


def first_of(cases: Sequence[T], count: int = 1) -> list[object]:
    """Return test parameters: the first few in `make test`, all of them in `make soak`."""
    return [*cases[:count], *(pytest.param(case, marks=only_in_soak) for case in cases[count:])]
