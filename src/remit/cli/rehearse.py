"""`remit rehearse`: show what would happen, without storing anything."""

import sys
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Annotated, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec.structs import replace

from remit import gate as gatehouse
from remit import settings as app_settings
from remit.calendar.slots import IDLE, CalendarSlot, Expansion, SlotFlag, TimeWindow
from remit.cli import clock, codes, out, receipt
from remit.cli.commands import CommandGroup
from remit.cli.lookup import read_file, typed_text
from remit.cli.out import AsJson, Piece, StyledText, flag, free
from remit.contacts import ContactBook
from remit.contacts.book import FILE, Contacts
from remit.errors import BadInput
from remit.intake.admit import check_text
from remit.intake.conditions import apply_limits, find_conditions, read_with_quiet
from remit.intake.extraction import Extraction
from remit.intake.hear import apply_plan
from remit.intake.message import reading_to_json
from remit.intake.plain_reader import read_plainly
from remit.intake.veto import held_back
from remit.model.codec import Json, JsonMap, moment
from remit.model.contract import ContractType, Criterion, Timing
from remit.model.recurrence import Repeats
from remit.model.reply import Hold, Reply
from remit.model.rrule import zone_of
from remit.model.view import s2_criterion
from remit.plan.activities import RulesFile, load_activities
from remit.plan.contract import ContractRequest, DraftedContract, OwedChecks, draft_contract
from remit.plan.files import mentioned_files
from remit.settings import Settings
from remit.system.owner_zone import find_owner_zone

# The channels S0 names, with their limits, whether they are set up here or not.
MOST: Final = {"dashboard": 100_000, "whatsapp": 4096, "email": 100_000}

app = CommandGroup("rehearse")
app.commands |= {
    "calendar": "rehearse:calendar",
    "contract": "rehearse:contract",
    "priority": "rules:priority",
}


@app.command()
def extract(
    text: Annotated[str, free("A message, as you would write it; - reads it from stdin.")] = "",
    /,
    *,
    labelled: Annotated[
        bool, flag("Score your model and the rules on labelled messages instead.")
    ] = False,
    now: Annotated[str | None, flag("The time of the message, with offset; default: now.")] = None,
    tz: Annotated[str | None, flag("The time zone; default: yours.")] = None,
    json: AsJson = False,
) -> int:
    """Show how a message would be understood, clause by clause, without a model."""
    settings = app_settings.load()
    if labelled:
        from remit.cli.reader_exam import show_scores  # noqa: PLC0415 - may load a model

        return show_scores(settings, as_json=json)
    words = typed_text(text)
    check_text(words)
    zone = find_owner_zone(settings.zone).zone if tz is None else _zone(tz)
    at = moment(now) if now else clock.now()
    book = _book(settings, MOST)
    words = words.strip()

    def read_rest(rest: str) -> Extraction:
        found = read_plainly(rest, now=at, zone=zone, book=book)
        limits = find_conditions(rest, book, at, zone, found.texts)
        return apply_limits(held_back(found, rest, book), limits)

    result = reading_to_json(read_with_quiet(words, book, read_rest))
    if json:
        out.emit(result)
    else:
        receipt.rehearse(result, zone)
    return codes.WAITS if result["questions"] else codes.DONE


@app.command()
def gate(
    *,
    channel: Annotated[str, flag("Where it would go: dashboard, whatsapp or email.")] = "dashboard",
    json: AsJson = False,
) -> int:
    """Judge a reply from stdin: show what would be sent, or why it would be held."""
    if channel not in MOST:
        raise BadInput(f"channel may be {', '.join(MOST)}, not {channel!r:.60}.", field="channel")
    judged = gatehouse.judge(Reply(sys.stdin.read()), most=MOST[channel])
    if isinstance(judged, Hold):
        if json:
            out.emit({"verdict": "hold", "reason": judged.reason})
        else:
            out.line(StyledText(judged.reason, "yellow"))
        return codes.WAITS
    return out.print_result(json, {"verdict": "pass", "deliverable": judged.text}, data=judged.text)


def rehearse_words(
    settings: Settings, text: str, at: datetime | None, repeats: Repeats | None = None
) -> JsonMap:
    """Return what `remit add` would make of a message, without a running Remit."""
    check_text(text)
    zone, book = find_owner_zone(settings.zone).zone, _book(settings)
    words = text.strip()

    def read_rest(rest: str) -> Extraction:
        found = read_plainly(rest, now=clock.now(), zone=zone, book=book)
        return held_back(apply_plan(found, at, book.home, repeats), rest, book)

    return reading_to_json(read_with_quiet(words, book, read_rest))


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        sentence = f"There is no zone {name!r:.60}; one looks like Europe/Berlin."
        raise BadInput(sentence, field="tz") from None


def _book(settings: Settings, others: Iterable[str] = ()) -> ContactBook:
    """Return the contacts as they are reached by the channels set up here, and by others."""
    known = tuple(dict.fromkeys(("dashboard", *settings.channels, *others)))
    return Contacts(settings.home / FILE, settings.owner, known, settings.agent).book()


_MOST: Final = 20_000_000  # letters of a diff
_MEANS: Final = {
    ContractType.VERIFIABLE: ("verifiable", "all of these must pass", "green"),
    ContractType.ADVISORY: ("advisory", "nothing is checked; you read what comes of it", "yellow"),
    ContractType.SKIP: ("skip", "only what always runs", "dim"),
}


def contract(  # noqa: PLR0913 - one flag a line, as they stand in the help
    description: Annotated[str, free("What is to be done; - reads it from stdin.")],
    /,
    *,
    files: Annotated[str | None, flag("Files that will change: a.py,b.md")] = None,
    diff: Annotated[str | None, flag("A file with a diff, as git writes it.")] = None,
    rules: Annotated[str | None, flag("A file with rules of your own: activities.yml")] = None,
    prd: Annotated[str | None, flag("A story of a document: docs/prd.md#US-1.")] = None,
    project: Annotated[str | None, flag("Use the rules of this project.")] = None,
    prompt_for_advisory: Annotated[
        bool, flag("The project asks before it goes on unverified.")
    ] = False,
    json: AsJson = False,
) -> int:
    """Say how a task on code would be proven, and why; nothing is stored."""
    words = typed_text(description)
    check_text(words)
    named = tuple(each.strip() for each in (files or "").split(",") if each.strip())
    asked = ContractRequest(
        words.strip(),
        named,
        _read_file(diff, "diff") if diff else "",
        prd=prd is not None,
        prompt_for_advisory=prompt_for_advisory,
    )
    papers = [RulesFile(rules, _read_file(rules, "rules"))] if rules else []
    if project is not None:
        mine, owed = _project_rules(project, named or mentioned_files(words))
        papers, asked = [*mine, *papers], replace(asked, owed=owed)
    found = draft_contract(asked, load_activities(*papers), clock.now())
    if json:
        out.emit(contract_to_json(found))
    else:
        _show(found)
    return codes.WAITS if found.unsure else codes.DONE


def _project_rules(name: str, paths: Sequence[str]) -> tuple[list[RulesFile], OwedChecks]:
    """Return a project's rules on top of ours, and the debt of the files."""
    from remit.wiring.proof import checks_in_rehearsal, rules_files  # noqa: PLC0415 - for who names a project

    settings = app_settings.load()
    known = settings.projects
    if name not in known:
        there = ", ".join(sorted(known)) or "none; name one as [projects.NAME] in settings.toml"
        raise BadInput(f"There is no project {name!r:.60}; there is {there}.", field="project")
    owed = checks_in_rehearsal(settings, name, paths, clock.now())
    return rules_files(settings, known[name].path), owed


def contract_to_json(found: DraftedContract) -> JsonMap:
    """Return for programs: the type, the checks, the reason, and the question to the owner."""
    criteria: list[Json] = [s2_criterion(each) for each in found.contract.criteria]
    return {
        "type": found.contract.type.value,
        "criteria": criteria,
        "why": list(found.why),
        "unsure": found.unsure,
    }


def _show(found: DraftedContract) -> None:
    name, means, style = _MEANS[found.contract.type]
    out.line(StyledText(name, style), f": {means}")
    rows: list[list[Piece]] = []
    for n, each in enumerate(found.contract.criteria, 1):
        activity, how = StyledText(each.activity, "bold"), StyledText(_when_checked(each), "dim")
        rows.append([f"{n}.", activity, each.description, how])
    out.listing(False, {}, rows)
    for why in found.why:
        out.line(StyledText("because ", "dim"), why)
    if found.notice:
        out.line(found.notice)
    if found.unsure:
        out.line(StyledText("Asks you ", "yellow"), found.unsure)


def _when_checked(criterion: Criterion) -> str:
    late = "when the group ends" if criterion.timing is Timing.DEFERRED else ""
    return "; ".join(each for each in (criterion.pattern, late) if each)


def _read_file(file: str, field: str) -> str:
    text = read_file(file, field, 4 * _MOST).decode("utf-8", "replace")
    if len(text) > _MOST:
        raise BadInput(f"{file} is too long; at most {_MOST:,} letters are read.", field=field)
    return text


# A calendar ---------------------------------------------------------------------------------------

AHEAD: Final = timedelta(days=35)
_DAY: Final = timedelta(days=1)
_LAST_YEAR: Final = 9000
_NOTES: Final = {
    SlotFlag.GAP: "clocks go forward: the time written does not exist that day",
    SlotFlag.FOLD: "clocks go back: the time written comes twice that day",
    SlotFlag.FLOATING: "no zone: read in yours",
    SlotFlag.ALL_DAY: "whole day",
    SlotFlag.MOVED: "moved",
    SlotFlag.CHANGED: "changed",
    SlotFlag.CANCELLED: "cancelled: does not start",
    SlotFlag.COMPLETED: "done: does not start",
    SlotFlag.CUT: "its text is cut",
}


def calendar(
    file: Annotated[str, free("An .ics file; - reads it from stdin.")],
    /,
    *,
    since: Annotated[str | None, flag("The first day, or a time with offset.", "--from")] = None,
    until: Annotated[str | None, flag("The last day, or a time with offset.", "--to")] = None,
    tz: Annotated[str | None, flag("The time zone; default: yours.")] = None,
    all_day_at: Annotated[
        str | None, flag("When all-day events start; default: from the settings.")
    ] = None,
    json: AsJson = False,
) -> int:
    """Say what a calendar would start and when; nothing is stored."""
    from remit.calendar import expand  # noqa: PLC0415 - asyncio, for calendars alone

    settings = app_settings.load()
    zone = find_owner_zone(settings.zone).zone if tz is None else zone_of(tz)
    morning = settings.calendar.morning if all_day_at is None else _hour(all_day_at)
    first = _from(since, zone)
    window = TimeWindow(first, _end_moment(until, zone) if until else first + AHEAD)
    if window.until <= window.since:
        raise BadInput("--to is not after --from; the later day is --to.", field="to")
    found = expand.slots(
        read_file(file, "file", expand.DEFAULT.bytes + 1), window, zone, all_day_at=morning
    )
    if json:
        out.emit(expansion_to_json(found))
    else:
        _show_expansion(found, window, zone)
    return codes.WAITS if found.refused else codes.DONE


def expansion_to_json(found: Expansion) -> JsonMap:
    """Return for programs: what starts, what is only shown, and what is refused."""
    return {
        "slots": [_slot(slot) for slot in found.slots if not slot.flags & IDLE],
        "idle": [_slot(slot) for slot in found.slots if slot.flags & IDLE],
        "refused": [{"uid": each.uid, "why": each.why} for each in found.refused],
    }


def _slot(slot: CalendarSlot) -> JsonMap:
    return {
        "slot": f"{slot.start:%Y-%m-%dT%H:%M:%SZ}",
        "local": slot.local.isoformat(timespec="seconds"),
        "end": f"{slot.end:%Y-%m-%dT%H:%M:%SZ}",
        "uid": slot.uid,
        "key": slot.key,
        "kind": slot.kind.value,
        "summary": slot.summary,
        "flags": [each.value for each in sorted(slot.flags)],
    }


def _show_expansion(found: Expansion, window: TimeWindow, zone: ZoneInfo) -> None:
    out.listing(False, {}, [_row(slot) for slot in found.slots])
    last = (window.until - timedelta(microseconds=1)).astimezone(zone)
    starts = sum(not slot.flags & IDLE for slot in found.slots)
    often = "nothing starts" if not starts else f"{starts:,} start" + "s" * (starts == 1)
    first = window.since.astimezone(zone)
    out.say(f"From {first:%Y-%m-%d} to {last:%Y-%m-%d} ({zone.key}): {often}.")
    for each in found.refused:
        out.line(StyledText("Refused ", "yellow"), f"{each.uid or 'the file'}: {each.why}")


def _row(slot: CalendarSlot) -> list[Piece]:
    notes = "; ".join(_NOTES[each] for each in sorted(slot.flags))
    style = "dim" if slot.flags & IDLE else ""
    when = f"{slot.local:%a %Y-%m-%d %H:%M}"
    summary = out.cut(" ".join(slot.summary.split()), 40) or slot.uid[:40]
    shown = StyledText(when, style), f"{slot.start:%H:%M}Z", StyledText(summary, style)
    return [*shown, StyledText(notes, "dim")]


def _from(text: str | None, zone: ZoneInfo) -> datetime:
    if text is None:
        return datetime.combine(clock.now().astimezone(zone), time(), zone)
    day = _day(text)
    return moment(text) if day is None else datetime.combine(day, time(), zone)


def _end_moment(text: str, zone: ZoneInfo) -> datetime:
    """Return the end: a day counts whole, a time is exact."""
    day = _day(text)
    return moment(text) if day is None else datetime.combine(day + _DAY, time(), zone)


def _day(text: str) -> date | None:
    try:
        day = datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007 - a day on the wall
    except ValueError:
        return None
    if day.year > _LAST_YEAR:
        raise BadInput(f"{text} is too far away; the last year is {_LAST_YEAR}.")
    return day


def _hour(text: str) -> time:
    try:
        return datetime.strptime(text, "%H:%M").time()  # noqa: DTZ007 - on the wall
    except ValueError:
        sentence = f"{text!r:.20} is no time of day; one looks like 09:00."
        raise BadInput(sentence, field="all-day-at") from None
