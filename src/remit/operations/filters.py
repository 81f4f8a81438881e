"""Many tasks: the filter line that names them, and one action on all of them.

A line is `status:failed channel:email is:recurring` and search words.
A name with a colon filters; all other words are searched. An unknown filter or value is refused
with the possible ones.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta, tzinfo
from enum import StrEnum
from typing import Final, NoReturn, TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from remit.brain.budget import midnight
from remit.errors import BadInput, RemitError, UnknownName
from remit.model import ids
from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap
from remit.model.contract import ContractType
from remit.model.ids import TaskId, series_id
from remit.model.status import ACTIVE, Status
from remit.model.task import Priority, SourceKind, Taint, TaskType
from remit.model.view import TaskState, why_not
from remit.operations import arguments as args
from remit.operations import tasks
from remit.operations.operation import (
    AgentRule,
    Answer,
    OperationPorts,
    OperationRequest,
    check_permission,
    operation,
)
from remit.owner import Owner
from remit.store import search
from remit.store import tasks as stored
from remit.store.task_filter import SortOrder, TaskFilter

T = TypeVar("T")

_PART: Final = re.compile(r'(?:(?P<key>[A-Za-z]+):)?(?:"(?P<quoted>[^"]*)"|(?P<plain>[^\s"]+))')
_AGO: Final = re.compile(r"([0-9]{1,4})([hdw])")
_UNITS: Final = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_DAY: Final = timedelta(days=1)
MOST_CHARACTERS: Final = 2_000

# S3's words stand for several of ours. `running` is the same in both.
STATUS_WORDS: Final[Mapping[str, tuple[Status, ...]]] = {
    **{status.value: (status,) for status in Status},
    "pending": (Status.NEW, Status.READY),
    "running": tuple(status for status in Status if status in ACTIVE),
    "deleted": (Status.CANCELLED,),
}


class FilterContext(Struct, frozen=True):
    """When and where a line is typed: what `today` means, and the channels' names."""

    now: datetime
    zone: tzinfo | None = None  # None: the machine's
    channels: Mapping[str, str] = field(default_factory=dict)  # by every word for it

    def day(self, days: int = 0) -> datetime:
        """Return when a day begins by the owner's clock."""
        start = midnight(self.zone)
        noon = datetime.combine(self.now.astimezone(self.zone).date(), time(12)) + days * _DAY
        return start(noon.replace(tzinfo=self.zone) if self.zone else noon.astimezone())


def context(app: OperationPorts) -> FilterContext:
    """Return today's date and the channels' names, as of now."""
    channels: dict[str, str] = {}
    for way in app.outfit.ways:
        for word in (way.name, *way.aliases, way.kind):
            channels.setdefault(word.casefold(), way.name)
    return FilterContext(app.clock.now(), app.zone, channels)


Read: TypeAlias = Callable[[TaskFilter, str, FilterContext], TaskFilter]

KEYS: Final[Mapping[str, str]] = {
    "status": "Where it stands: status:failed, status:failed,paused, status:needs-you.",
    "is": "What it is: is:recurring, is:once, is:scheduled, is:waiting (for you), is:unverified, "
    "is:deleted.",
    "source": "Where it came from: source:email, source:conversation.",
    "channel": "Where something of it goes: channel:email.",
    "priority": "How urgent it is: priority:high.",
    "taint": "The least trusted thing it has read: taint:public.",
    "contract": "How it is proven: contract:advisory is what no check can decide.",
    "type": "Whether it waits for a time: type:scheduled.",
    "series": "Of one series: series:ser-….",
    "due": "For when it is planned: due:today, due:tomorrow, due:week, due:overdue.",
    "since": "Created since: since:2026-03-01, since:today, since:7d.",
    "until": "Created before: until:2026-03-01, until:today.",
    "sort": "In which order: sort:newest, sort:updated, sort:due.",
}


def parse_filter(text: str, at: FilterContext) -> TaskFilter:
    """Parse a whole line, or raise what is wrong with it."""
    if len(text) > MOST_CHARACTERS:
        sentence = f"The filter has {len(text)} characters; {MOST_CHARACTERS} are read."
        raise BadInput(sentence, field="q")
    found, words, named = TaskFilter(), list[str](), set[str]()
    for key, value in _parts(text):
        if key is None:
            words.append(value)
            continue
        if key not in _READ:
            _refuse(f"There is no filter {key!r:.60}", KEYS, "; put it in quotes to search for it")
        if key in named and key not in ("is", "status"):
            raise BadInput(f"The filter {key!r} stands twice.", field="q")
        named.add(key)
        found = _READ[key](found, value, at)
    return replace(found, text=" ".join(words)) if words else found


def read(key: str, value: str, found: TaskFilter, at: FilterContext) -> TaskFilter:
    """Return the filter with one more condition, by its name."""
    return _READ[key](found, value, at)


def _parts(text: str) -> Iterator[tuple[str | None, str]]:
    for part in _PART.finditer(text):
        key, plain = part["key"], part["plain"]
        if key is None or (plain or "").startswith("//"):  # a web address is searched for
            yield None, part["quoted"] if plain is None else f"{key}:{plain}" if key else plain
        else:
            yield key.lower(), part["quoted"] if plain is None else plain


def _status(found: TaskFilter, value: str, _: FilterContext) -> TaskFilter:
    for word in value.lower().replace("-", "_").split(","):
        if word == "needs_you":
            found = replace(found, asks=True)
        else:
            known = _word("status", word, STATUS_WORDS)
            found = replace(found, statuses=(*found.statuses, *known))
    return found


def _moment(key: str, value: str, at: FilterContext) -> datetime:
    days = {"today": 0, "yesterday": -1, "tomorrow": 1}
    if value.lower() in days:
        return at.day(days[value.lower()])
    if ago := _AGO.fullmatch(value.lower()):
        return at.now - int(ago[1]) * _UNITS[ago[2]]
    try:
        moment = datetime.fromisoformat(value)
        there = (
            moment
            if moment.tzinfo
            else moment.replace(tzinfo=at.zone or at.now.astimezone().tzinfo)
        )
        there.astimezone(at.now.tzinfo)
    except (ValueError, OverflowError):
        sentence = f"{key}:{value:.60} is no time; say 2026-03-01, today, or 7d."
        raise BadInput(sentence, field="q") from None
    return there


def _word(key: str, word: str, known: Mapping[str, T]) -> T:
    if word not in known:
        _refuse(f"{key}:{word:.60} is not known", known)
    return known[word]


def _refuse(wrong: str, known: Mapping[str, object], hint: str = "") -> NoReturn:
    raise UnknownName(f"{wrong}; there is {', '.join(known)}{hint}.", field="q")


def _one_of(name: str, kind: type[StrEnum], more: Mapping[str, StrEnum] | None = None) -> Read:
    """Return the reader of a filter that is one of a few words."""
    known = {each.value: each for each in kind} | dict(more or {})
    return lambda found, value, _: replace(found, **{name: _word(name, value.lower(), known)})


def _filter_by_plan(found: TaskFilter, value: str, at: FilterContext) -> TaskFilter:
    since, until = _word("due", value.lower(), _DUE)(at)
    return replace(found, planned_since=since, planned_until=until)


_IS: Final[Mapping[str, Mapping[str, object]]] = {
    "recurring": {"recurring": True},
    "once": {"recurring": False},
    "scheduled": {"type": TaskType.SCHEDULED},
    "immediate": {"type": TaskType.IMMEDIATE},
    "waiting": {"asks": True},
    "unverified": {"unverified": True},
    "deleted": {"deleted": True},
}
_SOURCE_NAMES: Final = {
    "mail": SourceKind.EMAIL,
    "chat": SourceKind.CONVERSATION,
    "calendar": SourceKind.CALDAV,
}
_Span: TypeAlias = tuple[datetime | None, datetime | None]
_DUE: Final[Mapping[str, Callable[[FilterContext], _Span]]] = {
    "today": lambda at: (at.day(), at.day(1)),
    "tomorrow": lambda at: (at.day(1), at.day(2)),
    "week": lambda at: (at.day(), at.day(7)),
    "overdue": lambda at: (None, at.now),
}
_READ: Final[Mapping[str, Read]] = {
    "status": _status,
    "is": lambda found, value, _: replace(found, **_word("is", value.lower(), _IS)),
    "source": _one_of("source", SourceKind, _SOURCE_NAMES),
    "channel": lambda found, value, at: replace(
        found, channel=at.channels.get(value.casefold(), value)
    ),
    "priority": _one_of("priority", Priority),
    "taint": _one_of("taint", Taint),
    "contract": _one_of("contract", ContractType),
    "type": _one_of("type", TaskType),
    "series": lambda found, value, _: replace(found, series=series_id(value)),
    "due": _filter_by_plan,
    "since": lambda found, value, at: replace(found, since=_moment("since", value, at)),
    "until": lambda found, value, at: replace(found, until=_moment("until", value, at)),
    "sort": _one_of("sort", SortOrder),
}
DUE_WORDS: Final[Sequence[str]] = tuple(_DUE)


MOST: Final = 10_000
SHOWN: Final = 20
_BATCH: Final = 200  # so many wait for the disk together
_VERBS: Final = {
    "run": (tasks.run_task, Owner.run_now),
    "pause": (tasks.pause_task, Owner.pause),
    "resume": (tasks.resume_task, Owner.resume),
    "cancel": (tasks.cancel_task, Owner.cancel),
    "delete": (tasks.delete_task, Owner.delete),
}


@operation(Scope.WRITE, "BulkResult", "The tasks are changed.", agents=AgentRule.KNOWN)
async def change_many_tasks(request: OperationRequest, arguments: args.Bulk) -> Answer:
    """Do one thing to many tasks, named or all that match; with `dryRun` only say what."""
    named, more = await _requested_tasks(request, arguments)
    known = await request.app.db.read(request.access.finds, named)
    found = await request.app.db.read(stored.statuses_of, known)
    there = {each.id for each in found}
    gone: list[Json] = [_refused(each, "It is not there.") for each in named if each not in there]
    content: JsonMap = {"action": arguments.action, "dryRun": arguments.dry_run, "more": more}
    if arguments.dry_run:
        return Answer(content | _preview(arguments.action, found, gone))
    done: list[Json] = []
    for start in range(0, len(found), _BATCH):
        batch = found[start : start + _BATCH]
        done += await asyncio.gather(*(_one(request, arguments.action, each.id) for each in batch))
    request.app.engine.nudge()
    return Answer(content | _result(done, gone))


async def _requested_tasks(
    request: OperationRequest, arguments: args.Bulk
) -> tuple[list[TaskId], bool]:
    """Return the requested tasks, and whether there are more than the limit."""
    if (arguments.ids is None) == (arguments.filter is None):
        raise BadInput("Give ids or filter (a filter line), one of them.", field="ids")
    if arguments.ids is not None:
        return [ids.task_id(each) for each in dict.fromkeys(arguments.ids)], False
    line = arguments.filter or ""
    asked = parse_filter(line, context(request.app)) if line.strip() else TaskFilter()
    found = await request.app.db.read(search.ids, asked, MOST + 1)
    # What was not named is not even said to be gone to who may not know of it.
    known = await request.app.db.read(request.access.finds, found[:MOST])
    return known, request.access.reads and len(found) > MOST


async def _one(request: OperationRequest, action: str, task_id: TaskId) -> JsonMap:
    try:
        if action == "retry":
            task = await tasks.try_again(request, task_id, f"{request.ref}:{task_id}")
            return {"id": task_id, "done": True, "state": task.status.value, "became": task.id}
        row, verb = _VERBS[action]
        if request.caller.agent:
            one = args.TaskArguments(task_id)
            request = await request.app.db.read(check_permission, row.agents, request, one)
        task = await tasks.act(verb, request, task_id)
    except RemitError as error:
        return _refused(task_id, str(error))
    return {"id": task_id, "done": True, "state": task.status.value}


def _preview(action: str, found: Sequence[TaskState], gone: list[Json]) -> JsonMap:
    refused = [(each, why) for each in found if (why := why_not(each, action))]
    fitting = [each for each in found if why_not(each, action) is None]
    whole: list[Json] = [*(_refused(each.id, why) for each, why in refused), *gone]
    return {
        "matched": len(found) + len(gone),
        "done": len(fitting),
        "refused": len(whole),
        "first": [
            {"id": each.id, "title": each.title, "state": each.status.value}
            for each in fitting[:SHOWN]
        ],
        "results": whole[:SHOWN],
    }


def _result(done: Sequence[Json], gone: list[Json]) -> JsonMap:
    whole = [*done, *gone]
    well = sum(1 for each in whole if isinstance(each, dict) and each["done"])
    return {
        "matched": len(whole),
        "done": well,
        "refused": len(whole) - well,
        "first": [],
        "results": whole,
    }


def _refused(task_id: TaskId, why: str) -> JsonMap:
    return {"id": task_id, "done": False, "why": why}
