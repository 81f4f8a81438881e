"""Progress on stderr: a live line on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from remit.cli import clock, out
from remit.model.codec import JsonMap

_PATIENCE: Final = 1.0  # seconds; shorter work is not reported


@contextmanager
def working(text: str) -> Iterator[None]:
    """Show a moving line during a wait."""
    if not out.is_terminal(sys.stderr):
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it

    with Console(stderr=True).status(out.clean(text)):
        yield


@contextmanager
def measured(text: str) -> Iterator[Callable[[float], None]]:
    """Show a progress bar; call the yielded function with the share that is done."""
    if not out.is_terminal(sys.stderr):
        yield _Quarters(text).tell
        return
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
    from rich.progress import Progress  # noqa: PLC0415 - as above

    with Progress(console=Console(stderr=True), transient=True) as bar:
        shown = bar.add_task(text, total=1.0)
        yield lambda part: bar.update(shown, completed=part)


def part(state: JsonMap) -> float:
    """Return the share of tasks in the recall index."""
    held, tasks = (int(str(state[name])) for name in ("snippets", "tasks"))
    return min(1.0, held / tasks) if tasks else 1.0


class _Quarters:
    """Prints one line per quarter, if it takes longer than a moment."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._begun = clock.seconds()
        self._told = 0

    def tell(self, part: float) -> None:
        quarter = int(part * 4)
        if quarter > self._told and clock.seconds() - self._begun > _PATIENCE:
            self._told = quarter
            out.say(f"{self._text} {quarter * 25} %")
