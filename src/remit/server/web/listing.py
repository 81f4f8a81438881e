"""What the task list shows: its sections, its tabs, and its links.

Open tasks come first, all of them; ended ones follow page by page. So a list of ten thousand begins
with the few that matter.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace

from remit.model.ids import TaskId
from remit.model.status import ACTIVE, TERMINAL, Status
from remit.model.task import TaskType
from remit.server.web import row
from remit.server.web.row import TaskRow
from remit.store import search, series
from remit.store.database import Tx
from remit.store.search import SortOrder, TaskCount, TaskFilter

ROWS: Final = 100  # rows per page
_OPEN: Final = 25  # rows of a section that is not the last
_OCCURRENCES: Final = 5  # occurrences of a series
_SERIES: Final = 20
_UP_NEXT: Final = (Status.NEW, Status.READY)
_ASKING: Final = "status:needs-you"
_PLANNED: Final = "status:ready is:scheduled"
_UNVERIFIED: Final = "is:unverified"
_TABS: Final = frozenset(
    {"is:waiting", "is:scheduled", _UNVERIFIED}
)  # tab words that are no status


class ListGrouping(StrEnum):
    STATE = "state"
    NONE = "none"
    SERIES = "series"


class ListAddress(Struct, frozen=True):
    """What the address says."""

    q: str = ""
    sort: SortOrder = SortOrder.NEWEST
    group: ListGrouping = ListGrouping.STATE
    before: str = ""

    def href(self, path: str = "/tasks", **text: str) -> str:
        """Return the address with other parameters, without defaults."""
        sort = "" if self.sort is SortOrder.NEWEST else self.sort.value
        group = "" if self.group is ListGrouping.STATE else self.group.value
        return line_address(path, **{"q": self.q, "sort": sort, "group": group, **text})

    def said(self, key: str, text: str) -> str:
        """Return the address with another value for one filter key."""
        return self.href(q=changed_line(self.q, {key: text}))


class ListTab(Struct, frozen=True):
    label: str
    href: str
    count: int
    more: bool
    current: bool


class ListSection(Struct, frozen=True):
    """Rows under a heading, if it has a title."""

    title: str
    rows: Sequence[TaskRow]
    count: str = ""
    href: str = ""  # link to all of them, if some are missing


class TaskListing(Struct, frozen=True):
    sections: Sequence[ListSection]
    next: str | None  # where the last section continues
    count: TaskCount
    tabs: Sequence[ListTab]
    newest: Sequence[TaskId]  # so that the page knows which new ones belong to it


class _Part(Struct, frozen=True):
    """A section before it is loaded."""

    title: str
    wanted: TaskFilter
    href: str = ""
    count: int | None = None
    most: int | None = None  # an upper limit, if the exact count is unknown
    unasked: bool = False  # whether tasks with a question are shown elsewhere

    @property
    def is_empty(self) -> bool:
        return 0 in (self.count, self.most)


def look(
    tx: Tx, shown: ListAddress, wanted: TaskFilter, now: datetime, called: Mapping[str, str]
) -> TaskListing:
    """Return the first page in sections; later only the section that continues."""
    wanted = search.prepare_filter(tx, wanted)
    count = count_tasks(tx, shown, wanted)
    parts = list(_parts(tx, shown, wanted, count))
    if shown.before and parts:
        parts = [replace(parts[-1], title="")]
    sections: list[ListSection] = []
    cursor: str | None = None
    for part in parts:
        is_last = part is parts[-1]
        is_cut = count.asks_more if part.wanted.asks else count.cut
        if part.is_empty and not is_cut and not shown.before:
            continue
        limit = ROWS if is_last else part.wanted.limit
        before = (shown.before or None) if is_last else None
        page = search.page(tx, replace(part.wanted, limit=limit, before=before))
        # A task that asks before it begins is listed under those that need the owner.
        found = [each for each in page.tasks if not (part.unasked and each.id in page.asks)]
        cursor = page.next if is_last else None
        href = part.href if page.next and not is_last else ""
        text = "" if part.count is None else _count_text(part.count, cut=is_cut)
        if found:
            drawn = row.rows(tx, found, page.asks, now, called)
            sections.append(ListSection(part.title, drawn, text, href))
    made = _count_tabs(tx, shown, wanted, count)
    return TaskListing(sections, cursor, count, made, newest(tx, wanted))


def numbers(tx: Tx, shown: ListAddress, wanted: TaskFilter) -> tuple[list[ListTab], list[TaskId]]:
    """Return the tabs and the newest tasks, at one moment."""
    wanted = search.prepare_filter(tx, wanted)
    made = _count_tabs(tx, shown, wanted, count_tasks(tx, shown, wanted))
    return made, newest(tx, wanted)


def _count_tabs(tx: Tx, shown: ListAddress, wanted: TaskFilter, count: TaskCount) -> list[ListTab]:
    """Return the tabs; unverified results have one if there are any."""
    here = _UNVERIFIED in line_words(shown.q)
    if here:
        count = count_tasks(tx, shown, replace(wanted, unverified=False))
    typed = None if "is:scheduled" in line_words(shown.q) else wanted.type
    advice = replace(wanted, statuses=(), asks=False, type=typed, unverified=True, before=None)
    unproven = search.count(tx, advice)
    return tabs(shown, count, unproven if here or unproven.total else None)


def count_tasks(tx: Tx, shown: ListAddress, wanted: TaskFilter) -> TaskCount:
    """Return how many match, and how many would under each other tab."""
    count = search.count(tx, wanted)
    if wanted.type is not TaskType.SCHEDULED or "is:scheduled" not in line_words(shown.q):
        return count
    by_state = search.count(tx, replace(wanted, type=None, statuses=(), asks=False))
    return replace(by_state, total=count.total, more=count.more)


def _count_text(n: int, *, cut: bool) -> str:
    return f"{min(n, search.EXACT):,}{'+' if cut or n > search.EXACT else ''}"


def newest(tx: Tx, wanted: TaskFilter) -> list[TaskId]:
    return search.ids(tx, replace(wanted, sort=SortOrder.NEWEST, before=None), 20)


def tabs(shown: ListAddress, count: TaskCount, unproven: TaskCount | None = None) -> list[ListTab]:
    """Return every state with its number under this filter."""
    rest = line_without(shown.q, "status", also=_TABS)
    by = count.by_status
    labels: tuple[tuple[str, str, int], ...] = (
        ("All", "", sum(by.values())),
        ("Needs you", _ASKING, count.asks),
        ("Running", "status:running", sum(by.get(status, 0) for status in ACTIVE)),
        ("Scheduled", _PLANNED, count.planned),
        ("Completed", "status:completed", by.get(Status.COMPLETED, 0)),
        ("Failed", "status:failed", by.get(Status.FAILED, 0)),
    )
    more = {_ASKING: count.asks_more}
    if unproven is not None:
        labels += (("Not verified", _UNVERIFIED, unproven.total),)
        more[_UNVERIFIED] = unproven.more
    here = {word for word in line_words(shown.q) if word not in line_words(rest)}
    return [
        ListTab(
            label,
            shown.href(q=" ".join(part for part in (word, rest) if part)),
            min(n, search.EXACT),
            more.get(word, count.cut) or n > search.EXACT,
            here == set(word.split()),
        )
        for label, word, n in labels
    ]


def _parts(tx: Tx, shown: ListAddress, wanted: TaskFilter, count: TaskCount) -> Iterator[_Part]:
    if shown.sort is not SortOrder.NEWEST:
        wanted = replace(wanted, sort=shown.sort)
    if shown.group is ListGrouping.SERIES and wanted.recurring is not False and not wanted.series:
        yield from _by_series(tx, shown, wanted)
    elif shown.group is ListGrouping.STATE and not wanted.deleted:
        yield from _by_state(shown, wanted, count)
    else:
        yield _Part("", wanted)


def _by_state(shown: ListAddress, wanted: TaskFilter, count: TaskCount) -> Iterator[_Part]:
    """Yield one section for each stage; those excluded by the filter are not queried."""
    few = replace(wanted, limit=_OPEN, before=None)
    by = count.by_status
    rest = line_without(shown.q, "status", also=_TABS)
    if wanted.asks or not wanted.statuses or Status.NEEDS_REVIEW in wanted.statuses:
        href = shown.href(q=f"{_ASKING} {rest}".strip())
        yield _Part("Needs you", replace(few, statuses=(), asks=True), href, count.asks)
    if wanted.asks:
        return
    running = _statuses_in_both(wanted.statuses, ACTIVE)
    if running:
        href = shown.href(q=f"status:running {rest}".strip())
        n = sum(by.get(status, 0) for status in running)
        yield _Part("Running now", replace(few, statuses=running), href, n)
    yield from _coming(shown, few, rest, count)
    # Ended tasks are no longer due.
    ended = frozenset[Status]() if wanted.sort is SortOrder.DUE else TERMINAL
    earlier = _statuses_in_both(wanted.statuses, ended | {Status.PAUSED})
    if earlier:
        n = sum(by.get(status, 0) for status in earlier)
        yield _Part("Earlier", replace(wanted, statuses=earlier), count=n)


def _coming(shown: ListAddress, few: TaskFilter, rest: str, count: TaskCount) -> Iterator[_Part]:
    waiting = _statuses_in_both(few.statuses, frozenset(_UP_NEXT))
    if not waiting:
        return
    if few.type is not TaskType.SCHEDULED:
        href = shown.href(q=f"status:pending {rest}".strip())
        now = replace(few, statuses=_UP_NEXT, type=TaskType.IMMEDIATE)
        most = sum(count.by_status.get(each, 0) for each in _UP_NEXT) - count.planned
        yield _Part("Pending", now, href, most=most, unasked=True)
    if few.type is not TaskType.IMMEDIATE:
        soonest = replace(
            few, statuses=(Status.READY,), type=TaskType.SCHEDULED, sort=SortOrder.DUE
        )
        href = shown.href(q=f"{_PLANNED} {rest}".strip())
        yield _Part("Up next", soonest, href, most=count.planned, unasked=True)


def _by_series(tx: Tx, shown: ListAddress, wanted: TaskFilter) -> Iterator[_Part]:
    """Yield the newest occurrences of each series, then everything that does not repeat."""
    for each in series.list_series(tx, limit=_SERIES):
        of_it = replace(wanted, series=each.id, limit=_OCCURRENCES, before=None)
        href = shown.href(q=changed_line(shown.q, {"series": each.id}), group="none")
        yield _Part(each.title, of_it, href)
    if wanted.recurring is not True:
        yield _Part("Once", replace(wanted, recurring=False))


def _statuses_in_both(wanted: Sequence[Status], some: frozenset[Status]) -> tuple[Status, ...]:
    return tuple(each for each in Status if each in some and (not wanted or each in wanted))


_LINE_WORD: Final = re.compile(r'[^\s":]+:"[^"]*"|"[^"]*"|\S+')
_KEYED: Final = re.compile(r"([a-z-]+):(.+)")


def line_words(line: str) -> list[str]:
    """Return its words; a quoted part is one word."""
    return _LINE_WORD.findall(line)


def line_value(line: str, key: str) -> str:
    """Return the value of a key, if it occurs once; else empty."""
    keyed = [kept for kept in map(_KEYED.fullmatch, line_words(line)) if kept and kept[1] == key]
    return keyed[0][2].strip('"') if len(keyed) == 1 else ""


def line_without(line: str, *keys: str, also: frozenset[str] = frozenset()) -> str:
    """Return the line without some keys and some words."""
    return " ".join(
        word for word in line_words(line) if not _is_of(word, keys) and word not in also
    )


def changed_line(line: str, values: Mapping[str, str]) -> str:
    """Return the line with new values for some keys; an empty one removes the key."""
    rest = line_without(line, *values)
    new = [f"{key}:{_quote_words(text)}" for key, text in values.items() if text]
    return " ".join(part for part in (*new, rest) if part)


def line_address(path: str, **sentence: str) -> str:
    """Return an address with its parameters; empty ones are left out."""
    kept = {name: text for name, text in sentence.items() if text}
    return f"{path}?{urlencode(kept)}" if kept else path


def _is_of(word: str, keys: tuple[str, ...]) -> bool:
    kept = _KEYED.fullmatch(word)
    return kept is not None and kept[1] in keys


def _quote_words(text: str) -> str:
    return f'"{text}"' if re.search(r"\s", text) else text
