"""The gate: how much text it judges in a second, good replies and the worst we know."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.measure import Measurement, Stopwatch, read_peak_bytes
from remit import gate
from remit.model.reply import Reply

MEGABYTE = 1_000_000
MOST = 100_000
WORK = "I looked at seven parks, compared their hours, and left out those that close at noon.\n"
GOOD = WORK * 20 + "<deliverable>\n" + "Lumphini Park: open from 5:00, ducks, free.\n" * 20
GOOD += "</deliverable>"

# Each of them makes some way of looking for a pair of tags slow: 64 KB, and twice as much.
WORST: Mapping[str, str] = {
    "tags that are never closed": "<deliverable>",
    "tags within tags": "<deliverable>" * 8 + "</deliverable>",
    "closed, never opened": "</deliverable>",
    "nearly tags": "<deliverabl",
    "fences": "```\n",
    "spaces before a tag": " " * 64 + "<",
    "combining marks": "e\u0301\u0302\u0303",
    "joiners": "\u200d\u200c",
    "long words that look like keys": "sk-" + "a" * 61,
    "quoted mail": "> On Monday Eve wrote: ",
}


def run(size: int, home: Path) -> list[Measurement]:
    del home
    return [*measure(judge, size)]


def judge(text: str) -> None:
    gate.judge(Reply(text), most=MOST)


def measure(work: Callable[[str], object], size: int) -> Sequence[Measurement]:
    """The same two figures for whatever finds a deliverable in a text."""
    good = _speed(work, GOOD, size)
    slowest = min(WORST, key=lambda name: _speed(work, _repeat(WORST[name], 65_536), 1))
    text = _repeat(WORST[slowest], 65_536)
    small, large = _speed(work, text, 3), _speed(work, text * 2, 3)
    return [
        _row("good replies", good, size, {"characters": len(GOOD)}),
        # A way that takes time in proportion to the text is as fast on twice as much.
        _row("worst of 10 texts, 64 KB", small, 3, {"which": slowest}),
        _row("the same, 128 KB", large, 3, {"slower by": round(small / large, 2)}),
    ]


def _speed(work: Callable[[str], object], text: str, times: int) -> float:
    watch = Stopwatch()
    with watch:
        for _ in range(times):
            work(text)
    return len(text.encode()) * times / MEGABYTE / watch.wall_seconds


def _repeat(piece: str, length: int) -> str:
    return piece * (length // len(piece))


def _row(
    name: str, speed: float, count: int, facts: Mapping[str, str | int | float]
) -> Measurement:
    seconds = count * len(GOOD) / MEGABYTE / speed
    return Measurement(name, speed, "MB/s", count, seconds, seconds, read_peak_bytes(), facts=facts)
