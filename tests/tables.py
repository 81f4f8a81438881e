"""Tables of small cases as one test: each case that fails is named, and none hides another."""

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TypeVar, cast

import pytest
import yaml

T = TypeVar("T", bound=Callable[..., object])


# Every worker reads all tables before its first test, hence the loader in C.
read_yaml = functools.partial(yaml.load, Loader=yaml.CSafeLoader)


@functools.cache
def _tables_of(path: Path) -> dict[str, list[object] | dict[str, object]]:
    """The tables of a test, in a file of its name beside it; read once."""
    return cast("dict[str, list[object] | dict[str, object]]", read_yaml(path.read_text("utf-8")))


def table(test_file: str, name: str) -> list[object]:
    """Cases that are words alone: rows, or rows by a name that says what they are."""
    found = _tables_of(Path(test_file).with_suffix(".yml"))[name]
    return list(found.values()) if isinstance(found, dict) else found


def text_table(test_file: str, name: str) -> list[str]:
    """The same, of cases that are one text each."""
    found = table(test_file, name)
    return [each for each in found if isinstance(each, str)]


def for_each(names: str | tuple[str, ...], cases: Iterable[object]) -> Callable[[T], T]:
    """Run a test for each case, under one name or several, in one go; the cases share fixtures."""

    def decorate(test: T) -> T:
        @functools.wraps(test)
        def tried(**fixtures: object) -> None:
            with _Failures() as failures:
                for case in cases:
                    with failures.of(case):
                        test(**fixtures, **_arguments(names, case))

        @functools.wraps(test)
        async def awaited(**fixtures: object) -> None:
            with _Failures() as failures:
                for case in cases:
                    with failures.of(case):
                        await cast("Awaitable[None]", test(**fixtures, **_arguments(names, case)))

        parameters = dict(inspect.signature(test).parameters)
        for name in (names,) if isinstance(names, str) else names:
            del parameters[name]
        whole: object = awaited if inspect.iscoroutinefunction(test) else tried
        whole.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
        return cast("T", whole)

    return decorate


class _Failures:
    """The cases that failed; told all together at the end."""

    def __init__(self) -> None:
        self._told: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        told = self._told
        assert not told, f"{len(told)} cases fail:\n" + "\n".join(told[:20])

    @contextmanager
    def of(self, case: object) -> Iterator[None]:
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - told at the end
            self._told.append(f"{case!r:.300}: {type(error).__name__}: {error}")


def _arguments(names: str | tuple[str, ...], case: object) -> dict[str, object]:
    if isinstance(names, str):
        return {names: case}
    assert isinstance(case, tuple | list)
    return dict(zip(names, case, strict=True))
