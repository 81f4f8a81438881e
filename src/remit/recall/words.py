"""Earlier runs in words: a day, a line, a run, and a summary that code can write by itself."""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Final

from msgspec.structs import replace

from remit.store.sessions import PastRun, SessionSummary

MOST_SUMMARY: Final = 8_000  # characters; about 2,000 tokens
_LINE: Final = 160
_FOLDED: Final = "(The oldest of "


def summed_up(
    made: SessionSummary, before: SessionSummary | None, older: Sequence[PastRun], zone: tzinfo
) -> SessionSummary:
    """Add one line per run to the summary; if it gets too long, the oldest lines are left out."""
    known = before.text.splitlines() if before else []
    kept = [each for each in known if not each.startswith(_FOLDED)]
    note = f"{_FOLDED}{made.runs} runs since {day(made.since, zone)} are left out.)"
    room = MOST_SUMMARY - len(note) - 1
    fitting: list[str] = []
    lines = [*kept, *(_came_to(each, zone) for each in older)]
    for each in reversed(lines):
        room -= len(each) + 1
        if room < 0:
            break
        fitting.append(each)
    folded = len(kept) < len(known) or len(fitting) < len(lines)
    return replace(made, text="\n".join([*([note] if folded else []), *reversed(fitting)]))


def run(past: PastRun, zone: tzinfo, most: int) -> str:
    """Return a run as text for a summary."""
    return f"{day(past.ended_at, zone)} {past.title}\n{cut(past.text.strip(), most)}"


def day(at: datetime, zone: tzinfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d}"


def line(text: str, most: int) -> str:
    """Return a text on one line, cut if it is too long."""
    return cut(" ".join(text.split()), most)


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _came_to(past: PastRun, zone: tzinfo) -> str:
    first, *_ = past.text.strip().splitlines() or [""]
    return line(f"{day(past.ended_at, zone)}: {past.title}: {first}", _LINE)
