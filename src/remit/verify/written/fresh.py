"""Checks the sources of a text: that they were read, are enough, and are not too old."""

import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import Final

from remit.language.tokens import fold, fold_text
from remit.model.contract import Evidence, ReadSource, Result
from remit.model.task import Task
from remit.verify.written import places, times
from remit.verify.written.figures import AmountFigure, DateFigure, find_figures
from remit.verify.written.source_figures import SourceFigures
from remit.verify.written.times import PartialDate
from remit.verify.written.wording import (
    PASSED,
    STOP,
    Judged,
    fail,
    folded_words,
    lower,
    owner_words,
    pattern,
    stem,
    without_marks,
    word_set,
)

_BEHIND_HEADING: Final = r"(?:[\W_]*:[ \t]*|[\W_]*$|\s+(?=https?://))"
_CALL: Final = re.compile(r"^[\w.-]+\(")
_MIN_LABEL_CHARACTERS: Final = 4
_OPENING: Final = 600  # characters of a page in which its title stands


def judge_sources(task: Task, wanted: str, evidence: Evidence) -> Judged:
    """`wanted` is how many different sources must be named; with 0, none."""
    wanted = wanted or "1"
    if not wanted.isdecimal():
        return fail("the pattern must be a number, like 3")
    if strange := unread_sources(task, evidence):
        named = ", ".join(f"“{each}”" for each in strange[:3])
        return fail(f"{named} is named as a source but was not read")
    found = {origin(each) for each in evidence.read if is_named(each, evidence.text)}
    if len(found) >= int(wanted):
        return PASSED
    return fail(f"{len(found)} of the sources that were read are named, not {wanted}")


def origin(source: ReadSource) -> str:
    """Return who a source is: two pages of one site are one."""
    if places.is_page(source.place):
        return places.site(source.place)
    return fold(source.place.rsplit("/", 1)[-1])


def is_named(source: ReadSource, text: str) -> bool:
    """Whether a text names a source: its address, site, file or title."""
    if source.is_lead:
        return False
    if places.is_page(source.place):
        named = {places.site(url) for _, _, url in places.urls(text)}
        return places.site(source.place) in named or _label(source.place) in _letters_only(text)
    if call := _CALL.match(source.place):
        parts = re.split(r"\W+", fold(call.group(0)))
        return any(part in fold_text(text) for part in parts if part)
    name = source.place.rsplit("/", 1)[-1]
    stem_of_file = name.rsplit(".", 1)[0]
    return fold(name) in fold_text(text) or _letters_only(stem_of_file) in _letters_only(text)


def unread_sources(task: Task, evidence: Evidence) -> list[str]:
    """Return what the text names as a source although nobody read it."""
    linked = {places.address(url) for each in evidence.read for _, _, url in places.urls(each.text)}
    read = {origin(each) for each in evidence.read if places.is_page(each.place)}
    asked = {places.site(url) for text in owner_words(task) for _, _, url in places.urls(text)}
    cited = list(_cited_sources(evidence.text))
    strange = [
        url
        for _, _, url in places.urls(evidence.text)
        if places.site(url) not in read | asked
        and (any(url in each for each in cited) or places.address(url) not in linked)
    ]
    names = [each for each in cited if not any(places.urls(each)) and not _is_known(each, evidence)]
    return [*strange, *names]


def _cited_sources(text: str) -> Iterable[str]:
    """Yield what is listed under a sources heading, and after `Source:` in a line."""
    low = lower(text)
    for found in pattern("sources.inline", after=r"[*_]*:[ \t]*(?P<what>[^\n]+)").finditer(low):
        yield from _pieces(text[slice(*found.span("what"))])
    heads = pattern("sources.headings(_|)", before=r"^[\W_]*", after=_BEHIND_HEADING, glued=True)
    for head in heads.finditer(low):
        line_ends = text[head.end() : head.end() + 1] in ("", "\n")
        if head.group(0).rstrip().endswith(":") and not line_ends:
            continue
        yield from _pieces(re.split(r"\n[ \t]*\n", text[head.end() :].lstrip("\n"))[0])


def _pieces(text: str) -> Iterable[str]:
    apart = pattern("small.and", before=r"[,;]\s+|\n+|\s+(?:&|", after=r")\s+")
    ends = [found.span() for found in apart.finditer(lower(text))]
    for (_, start), (end, _) in pairwise(((0, 0), *ends, (len(text), 0))):
        bare = without_marks(text[start:end]).strip(' \t-•.()[]"“”„')
        if bare:
            yield bare


def _is_known(name: str, evidence: Evidence) -> bool:
    """Whether a name without an address is one of what was read, as far as can be told."""
    if any(is_named(each, name) for each in evidence.read):
        return True
    empty = STOP | word_set("sources.pages")
    stated = [stem(word) for word in folded_words(name) if word not in empty]
    return not stated or any(_speaks(stated, each) for each in evidence.read if not each.is_lead)


def _speaks(stems: Sequence[str], source: ReadSource) -> bool:
    """Whether a page has this name: half of its words are in the address or at the top."""
    opening = fold_text(f"{source.place} {source.text[:_OPENING]}")
    return 2 * sum(each in opening for each in stems) >= len(stems)


def _label(url: str) -> str:
    """Return a site's common name: `lonelyroad` of travel.lonelyroad.example."""
    label = _letters_only(places.site(url).split(".")[0])
    return label if len(label) >= _MIN_LABEL_CHARACTERS else places.site(url)


def _letters_only(text: str) -> str:
    return re.sub(r"[\W_]+", "", fold_text(text))


_STAMP_FOLLOWS: Final = r"[^\n]{0,24}\Z"
_TOP: Final = 30  # a date at the start of a page is its own
_SHOWN: Final = 60


def judge_freshness(task: Task, wanted: str, evidence: Evidence) -> Judged:
    """`wanted` is a number of days: sources that were used must not be older.

    A page states its date under a word like `published` or at its top. Without one it counts as of
    its reading. Old sources that were not used do no harm.
    """
    if not wanted.isdecimal():
        return fail("the pattern must be a number of days, like 7")
    if not evidence.read:
        return fail(f"nothing was read, so nothing is {wanted} days old at most")
    today = _today(task, evidence)
    oldest = today - timedelta(days=int(wanted))
    dated = [(each, source_date(each, today)) for each in evidence.read]
    stale = [(each, day) for each, day in dated if day and day < oldest]
    fresh = [each for each, day in dated if day is None or day >= oldest]
    used = _used_stale_source([each for each, _ in stale], fresh, evidence.text)
    if used:
        day = next(day for each, day in stale if each is used)
        return fail(f"{used.place[:_SHOWN]} is of {day}, more than {wanted} days before {today}")
    if any(day for _, day in dated):
        return PASSED
    return Result.PASS, "nothing that was read says how old it is"


def source_date(source: ReadSource, today: date) -> date | None:
    """Return the date a source states; else the day it was read."""
    head = source.text
    for start, _, found_date in sorted(times.find_dates(head)):
        before = head[max(0, start - 60) : start].lower()
        if start <= _TOP or pattern("sources.dated", after=_STAMP_FOLLOWS).search(before):
            return _day(found_date, today)
    read = source.read_at.date() if source.read_at else None
    return _in_address(source.place, today) or read


def _today(task: Task, evidence: Evidence) -> date:
    reads = [each.read_at for each in evidence.read if each.read_at]
    started = task.started_at or task.scheduled_for or task.created_at
    return max(started, *reads).date() if reads else started.date()


def _day(dates: tuple[PartialDate, ...], today: date) -> date | None:
    """Return what a date means: of two readings the past one nearer to today."""
    read = [day for each in dates if (day := each.whole(today))]
    return min(
        read,
        key=lambda day: (day > today + timedelta(days=1), abs((today - day).days)),
        default=None,
    )


def _in_address(place: str, today: date) -> date | None:
    if not places.is_page(place):
        return None
    found = [_day(found_date, today) for _, _, found_date in times.find_dates(place)]
    past = [day for day in found if day and day <= today]
    return past[0] if past else None


def _used_stale_source(
    stale: list[ReadSource], fresh: list[ReadSource], text: str
) -> ReadSource | None:
    """A stale source that the text names, or whose figures stand in no fresh one."""
    if not stale:
        return None
    known = SourceFigures([each.text for each in fresh])
    stated = [each for each in find_figures(text) if isinstance(each, AmountFigure | DateFigure)]
    for each in stale:
        ground = SourceFigures([each.text])
        alone = any(ground.has(figure) and not known.has(figure) for figure in stated)
        if alone or is_named(each, text) or not fresh:
            return each
    return None
