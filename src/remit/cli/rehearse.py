"""`remit rehearse`: what would happen, and nothing is stored."""

import sys
from datetime import datetime
from typing import Annotated, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cyclopts import App

from remit import gate as gatehouse
from remit import settings as house_settings
from remit.cli import clock, codes, out
from remit.cli.options import AsJson, flag, free
from remit.cli.out import Ink
from remit.errors import BadInput
from remit.intake import extract as reader
from remit.intake.recipients import Book, Channel, Contact
from remit.model.codec import Json, moment, stamp, to_json
from remit.model.reply import Hold, Reply

# The channels that S0 names, and how much each takes; which of them a house has is another matter.
MOST: Final = {"dashboard": 100_000, "whatsapp": 4096, "email": 100_000}

app = App(name="rehearse")


@app.command
def extract(
    text: Annotated[str, free("A message, as you would write it; - reads it from stdin.")],
    /,
    *,
    now: Annotated[str | None, flag("When it is said, with offset; else now.")] = None,
    tz: Annotated[str, flag("The zone of your clock; UTC, if not said.")] = "UTC",
    json: AsJson = False,
) -> int:
    """Say what a message would be understood as, clause by clause; no model is asked."""
    said = sys.stdin.read() if text == "-" else text
    at = moment(now) if now else clock.now()
    found = reader.extract(said, now=at, zone=_zone(tz), book=_book())
    if json:
        tasks: list[Json] = [_draft(draft) for draft in found.tasks]
        asked: list[Json] = [to_json(question) for question in found.questions]
        out.emit({"tasks": tasks, "questions": asked, "answer": to_json(found.answer)})
    else:
        _print(found)
    return codes.WAITS if found.questions else codes.DONE


@app.command
def gate(
    *,
    channel: Annotated[str, flag("Where it would go: dashboard, whatsapp or email.")] = "dashboard",
    json: AsJson = False,
) -> int:
    """Judge a reply from stdin: what would go out, or why it would be held."""
    if channel not in MOST:
        raise BadInput(f"channel may be {', '.join(MOST)}, not {channel!r:.60}.", field="channel")
    judged = gatehouse.judge(Reply(sys.stdin.read()), most=MOST[channel])
    if isinstance(judged, Hold):
        if json:
            out.emit({"verdict": "hold", "reason": judged.reason})
        else:
            out.line(Ink(judged.reason, "yellow"))
        return codes.WAITS
    if json:
        out.emit({"verdict": "pass", "deliverable": judged.text})
    else:
        out.line(judged.text)
    return codes.DONE


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        sentence = f"There is no zone {name!r:.60}; one looks like Europe/Berlin."
        raise BadInput(sentence, field="tz") from None


def _book() -> Book:
    owner = Contact(house_settings.load().owner, channels=tuple(MOST))
    return Book(owner, tuple(Channel(name, name) for name in MOST))


def _draft(draft: reader.Draft) -> Json:
    return {
        "title": draft.title,
        "instructions": draft.instructions,
        "type": draft.type.value,
        "scheduled_for": _at(draft.scheduled_for),
        "recurrence": to_json(draft.recurrence),
        "work": to_json(draft.work),
        "delivery": to_json(draft.deliveries),
        "needs_brain": draft.needs_brain,
        "clauses": to_json(draft.clauses),
    }


def _at(planned: datetime | None) -> str | None:
    return None if planned is None else stamp(planned)


def _print(found: reader.Extraction) -> None:
    if not found.tasks:
        out.line(Ink("No task", "bold"), f": {found.answer}" if found.answer else "")
    for draft in found.tasks:
        out.line(Ink(draft.title, "bold"))
        if draft.scheduled_for:
            out.line("  at ", stamp(draft.scheduled_for))
        for clause in draft.clauses:
            out.line("  ", Ink(f"{clause.became or 'asked':<11}", "dim"), clause.text)
    for question in found.questions:
        out.line(Ink(f"Asks you ({question.about}): {question.sentence}", "yellow"))
