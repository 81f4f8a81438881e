"""Tables of small cases as one test: each case that fails is named, and none hides another."""

import functools
import inspect
from collections.abc import Callable, Iterable

import pytest

Test = Callable[..., None]


def for_each(names: str | tuple[str, ...], cases: Iterable[object]) -> Callable[[Test], Test]:
    """Run a test for each case, under one name or several, in one go."""

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def tried(**fixtures: object) -> None:
            failed: list[str] = []
            for case in cases:
                try:
                    test(**fixtures, **_arguments(names, case))
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - told below
                    failed.append(f"{case!r:.300}: {type(error).__name__}: {error}")
            assert not failed, f"{len(failed)} cases fail:\n" + "\n".join(failed[:20])

        parameters = dict(inspect.signature(test).parameters)
        for name in (names,) if isinstance(names, str) else names:
            del parameters[name]
        tried.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
        return tried

    return decorate


def _arguments(names: str | tuple[str, ...], case: object) -> dict[str, object]:
    if isinstance(names, str):
        return {names: case}
    assert isinstance(case, tuple)
    return dict(zip(names, case, strict=True))
