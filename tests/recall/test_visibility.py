"""Who sees which tasks: every source against every other, by every way to read one."""

from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from remit.brain import task_tools
from remit.errors import NotFound
from remit.model.codec import Json, JsonMap
from remit.model.reply import Policy, ToolCall
from remit.model.task import Creator, Source, SourceKind, Taint, Task
from remit.recall import finder
from remit.store import sessions
from remit.store.sessions import SessionSummary
from remit.testing import START, World
from remit.triggers import cue_admission


class Asker(Struct, frozen=True, kw_only=True):
    """Somebody who has work done: how it is named here, and how far it is trusted."""

    kind: SourceKind
    ref: str = "ref"
    by: Creator = Creator.SCHEDULER
    taint: Taint = Taint.PUBLIC
    context: JsonMap = field(default_factory=dict)
    sees: frozenset[str] = frozenset()  # besides its own
    own: bool = True  # its two tasks are known to be one asker's


def _mail(sender: str, taint: Taint = Taint.CONTACT, *, verified: bool = True) -> Asker:
    context: JsonMap = {"sender": sender, "sender_verified": verified, "outside": "Hello"}
    sees = OWNERS if taint is Taint.CONTACT else frozenset[str]()
    return Asker(kind=SourceKind.EMAIL, taint=taint, context=context, sees=sees, own=verified)


def _hook(name: str) -> Asker:
    return Asker(kind=SourceKind.WEBHOOK, context={"hook": name, "outside": "{}"})


def _event(uid: str, taint: Taint = Taint.PUBLIC, **context: Json) -> Asker:
    said: JsonMap = {"calendar": "work", "uid": uid, **context}
    sees = OWNERS if taint is Taint.CONTACT else frozenset[str]()
    return Asker(kind=SourceKind.CALDAV, taint=taint, context=said, sees=sees)


def _agent(ref: str, *, own: bool = True) -> Asker:
    return Asker(kind=SourceKind.AGENT, ref=ref, by=Creator.AGENT, taint=Taint.CONTACT, own=own)


OWNERS: Final = frozenset({"owner", "owner who read the web", "owner's calendar"})
ASKERS: Final = {
    "owner": Asker(kind=SourceKind.CONVERSATION, by=Creator.USER, taint=Taint.OWNER),
    "owner who read the web": Asker(kind=SourceKind.MANUAL, by=Creator.USER),
    "owner's calendar": _event("mine", organizer="owner"),
    "owner who passes mail on": replace(_mail("me@example.org", Taint.PUBLIC), by=Creator.USER),
    "hook a": _hook("a"),
    "hook b": _hook("b"),
    "hook a, tried again": replace(
        _hook("a"), ref="api:1", by=Creator.USER, sees=frozenset({"hook a"})
    ),
    "anna": _mail("anna@example.org"),
    "bob": _mail("bob@example.org"),
    "who says to be anna": _mail("anna@example.org", Taint.PUBLIC, verified=False),
    "carl": Asker(
        kind=SourceKind.WHATSAPP, taint=Taint.CONTACT, context={"sender": "+491"}, sees=OWNERS
    ),
    "dora": Asker(
        kind=SourceKind.WHATSAPP, taint=Taint.CONTACT, context={"sender": "+492"}, sees=OWNERS
    ),
    "eve's event": _event("lunch"),
    "anna's event": _event("dinner", Taint.CONTACT),
    "a folder": Asker(
        kind=SourceKind.MANUAL, ref="folder:scans 0a 1", context={"outside": "A letter"}
    ),
    "a file, tried again": Asker(
        kind=SourceKind.MANUAL, ref="api:", by=Creator.USER, context={"outside": "x"}, own=False
    ),
    "agent a": _agent("tok-A/"),
    "agent b": _agent("tok-B/"),
    "agent c, tried again": _agent("api:c", own=False),
    "agent d, tried again": _agent("api:d", own=False),
    "a child of a task": _agent("task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA:0:"),
}
# Who sees more than its table says: what shares an origin with it.
ALSO: Final = {"hook a": {"hook a, tried again"}}
EVERYTHING: Final = frozenset(ASKERS)
SUMMARY: Final = SessionSummary("It was quiet.", (START, 1), 1, START, Taint.OWNER)
WORDS: Final = "Find quiet parks in Bangkok for a picnic"


def _sees(name: str) -> set[str]:
    """Whose tasks a task of somebody's may see."""
    if name in OWNERS:
        return set(EVERYTHING)
    asker = ASKERS[name]
    return {*asker.sees, *ALSO.get(name, ()), *([name] if asker.own else [])}


async def _admitted(world: World) -> dict[str, list[Task]]:
    """Two tasks of everybody's, alike in words and in meaning; each session has a summary."""
    made: dict[str, list[Task]] = {name: [] for name in ASKERS}
    for n, (name, asker) in product(range(2), ASKERS.items()):
        cue = replace(
            cue_admission.cue(f"{WORDS}, {name} {'AB'[n]}", ref=""),
            source=Source(asker.kind, f"{asker.ref}-{name}-{n}"),
            created_by=asker.by,
            taint=asker.taint,
            context=asker.context,
        )
        made[name].append(await world.app.intake.admit(cue))
    for tasks in made.values():
        for each in tasks:
            await world.app.db.write(sessions.sum_up, each.session_id, SUMMARY)
    await world.app.recollection.catch_up()
    return made


async def _reaches(world: World, task: Task, other: Task) -> dict[str, bool]:
    """By which ways a task gets at another."""
    db = world.app.db
    lines = task_tools.read_task_log(Policy.ALLOW, db)
    try:
        await lines.use(task, ToolCall("1", "read_task_log", {"task_id": other.id}))
        logged = True
    except NotFound:
        logged = False
    late = replace(task, created_at=other.created_at + timedelta(hours=1))
    other_words = replace(other, scheduled_for=task.scheduled_for)
    same = finder.is_same(late, other_words, world.now)
    joined = replace(task, session_id=other.session_id, retry_of=None, series_id=None)
    shared = await db.read(sessions.look_back, joined)
    told = await lines.use(joined, ToolCall("1", "read_task_log", {}))
    return {
        "log": logged,
        "duplicates": same,
        "session": shared.summary is not None,
        "log of the session": other.id in told.text,
    }


async def test_every_way_to_read_a_task_keeps_to_one_rule(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        made = await _admitted(world)
        whose = {each.id: name for name, tasks in made.items() for each in tasks}
        by_words = task_tools.search_tasks(Policy.ALLOW, world.app.db)
        find = world.app.recollection.finder.find
        by_meaning = task_tools.search_tasks(Policy.ALLOW, world.app.db, find)
        for (name, (_, task)), (other_name, (other, _)) in product(made.items(), made.items()):
            asked: JsonMap = {"query": f"Bangkok picnic {other_name} A"}
            told = await by_words.use(task, ToolCall("1", "search_tasks", asked))
            ways = {**await _reaches(world, task, other), "search": other.id in told.text}

            assert set(ways.values()) == {other_name in _sees(name)}, (name, other_name, ways)
        for name, (_, task) in made.items():
            asked = {"query": "calm green places to eat outside"}
            told = await by_meaning.use(task, ToolCall("1", "search_tasks", asked))

            assert {whose[each] for each in whose if each in told.text} <= _sees(name), name
