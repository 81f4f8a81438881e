"""Lists by every word of a filter: the same tasks as by looking at each, in every order."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.errors import BadInput
from remit.model.contract import Contract, ContractType
from remit.model.delivery import Delivery
from remit.model.ids import SeriesId, SessionId, TaskId
from remit.model.review import Review
from remit.model.status import Actor, Reason, Status
from remit.model.task import Priority, Source, SourceKind, Taint, Task, TaskType
from remit.store import events, moves, queue, reviews, search, task_filter, tasks
from remit.store.search import SortOrder, TaskFilter
from tests.soak import examples, one_of
from tests.store.postgres import Postgres
from tests.store.scene import AT, RULE, PostgresScene, Scene

HOUR = timedelta(hours=1)
SERIES = SeriesId("ser-" + "0" * 26)
SESSION = SessionId("ses-shared")
SCENES = ("sqlite", "postgres")


class Crowd:
    """Forty tasks that differ in all that a filter can name."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.tx = scene.tx
        made = [self._one(n) for n in range(40)]
        self.asking_ids = {each.id for n, each in enumerate(made) if n % 8 == 5}
        self.tasks = [scene.get(each.id) for each in made]

    def _one(self, n: int) -> Task:
        scene = self._scene
        sends = [("email", f"a{n}")] * (n % 3 == 0) + [("email", f"b{n}")] * (n % 6 == 0)
        sends += [("dashboard", "me")] * (n % 2)
        task = scene.admit(
            f"task {n} {'plum' if n % 4 else 'pear'}",
            source=Source((SourceKind.MANUAL, SourceKind.EMAIL)[n % 5 == 0], f"ref {n}"),
            taint=(Taint.OWNER, Taint.PUBLIC)[n % 7 == 0],
            contract=(None, *map(Contract, ContractType))[n % 4],
            priority=(Priority.LOW, Priority.HIGH)[n % 4 == 1],
            type=(TaskType.IMMEDIATE, TaskType.SCHEDULED)[n % 3 == 1],
            scheduled_for=AT + (50 - n) * HOUR if n % 3 == 1 else None,
            series_id=SERIES if n % 10 == 3 else None,
            session_id=SESSION if n % 9 == 0 else scene.ids.session(),
            delivery=tuple(Delivery(c, r, id=scene.ids.delivery()) for c, r in sends),
        )
        if n % 5 == 1 and n % 8 != 5:
            scene.do(queue.rank, task.id, task.priority, RULE, scene.now)
        if n % 8 == 2:
            scene.do(moves.cancel, task.id, scene.now)
        if n % 16 == 2:
            scene.do(tasks.delete, task.id, scene.now)
        if n % 8 == 5:
            scene.do(reviews.open_review, self._question(task), Actor.INTAKE, scene.now)
        scene.wait(60)
        return task

    def _question(self, task: Task) -> Review:
        return Review(
            id=self._scene.ids.review(),
            task_id=task.id,
            key="k",
            reason=Reason.INPUT,
            question="Which?",
            resume_to=Status.NEW,
        )

    def fits(self, task: Task, wanted: TaskFilter) -> bool:
        """What a filter means, said without an index."""
        same = all(
            want is None or getattr(task, name) == want
            for name, want in (
                ("type", wanted.type),
                ("priority", wanted.priority),
                ("taint", wanted.taint),
                ("series_id", wanted.series),
                ("session_id", wanted.session),
            )
        )
        planned, proof = task.scheduled_for, task.contract
        return (
            same
            and (not wanted.statuses or task.status in wanted.statuses)
            and (wanted.source is None or task.source.kind is wanted.source)
            and (wanted.contract in (None, proof.type if proof else ""))
            and (wanted.channel is None or wanted.channel in [d.channel for d in task.delivery])
            and (wanted.recurring is None or (task.series_id is not None) is wanted.recurring)
            and (not wanted.asks or task.id in self.asking_ids)
            and (wanted.since is None or task.created_at >= wanted.since)
            and (wanted.until is None or task.created_at < wanted.until)
            and (not wanted.is_planned or (planned is not None and not task.ended))
            and (wanted.planned_since is None or (planned or AT) >= wanted.planned_since)
            and (wanted.planned_until is None or (planned or AT) < wanted.planned_until)
            and _holds(task.title, wanted.text or "")
            and (task.deleted_at is not None) is wanted.deleted
            and (wanted.sort is not SortOrder.DUE or (planned is not None and not task.ended))
        )

    def expected(self, wanted: TaskFilter) -> list[TaskId]:
        found = [task for task in self.tasks if self.fits(task, wanted)]
        match wanted.sort:
            case SortOrder.NEWEST:
                found.reverse()
            case SortOrder.DUE:
                found.sort(key=lambda task: (task.scheduled_for or AT, task.id))
            case SortOrder.UPDATED:
                found.sort(key=lambda task: -events.last_of_task(self.tx, task.id, 1)[0].seq)
        return [task.id for task in found]


def _holds(title: str, text: str) -> bool:
    """All words but the last are whole."""
    *whole, last = text.split() or [""]
    held = title.split()
    return set(whole) <= set(held) and any(word.startswith(last) for word in held)


@pytest.fixture(
    scope="module", params=[pytest.param(each, marks=one_of("crowd")) for each in SCENES]
)
def crowd(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Crowd]:
    if request.param == "sqlite":
        with closing(Scene(tmp_path_factory.mktemp("crowd") / "agent.db")) as scene:
            yield Crowd(scene)
        return
    server: Postgres = request.getfixturevalue("postgres_server")
    with closing(PostgresScene(server.store)) as scene:
        yield Crowd(scene)
    server.wipe()


def _pages(crowd: Crowd, wanted: TaskFilter) -> Iterator[Task]:
    while True:
        page = search.page(crowd.tx, wanted)
        yield from page.tasks
        if page.next is None:
            return
        wanted = replace(wanted, before=page.next)


def _maybe(*values: object) -> st.SearchStrategy[object]:
    return st.sampled_from([None, None, None, *values])


FILTERS = st.builds(
    TaskFilter,
    statuses=st.lists(
        st.sampled_from([Status.NEW, Status.READY, Status.CANCELLED]), max_size=2
    ).map(tuple),
    type=_maybe(*TaskType),
    source=_maybe(SourceKind.MANUAL, SourceKind.EMAIL, SourceKind.AGENT),
    priority=_maybe(Priority.LOW, Priority.HIGH),
    taint=_maybe(Taint.OWNER, Taint.PUBLIC),
    contract=_maybe(*ContractType),
    channel=_maybe("email", "dashboard", "pigeon"),
    session=_maybe(SESSION),
    series=_maybe(SERIES),
    recurring=_maybe(True, False),
    asks=st.sampled_from([False, False, True]),
    since=_maybe(AT + timedelta(minutes=10)),
    until=_maybe(AT + timedelta(minutes=30)),
    planned_since=_maybe(AT + 10 * HOUR),
    planned_until=_maybe(AT + 40 * HOUR),
    text=_maybe("plum", "pear", "p", "task pe", "lum"),
    deleted=st.sampled_from([False, False, True]),
    sort=st.sampled_from(SortOrder),
    limit=st.sampled_from([1, 3, 50]),
)


# Where the ways of a large store begin: what is common, what is few, how many words begin alike.
WAYS = {
    "as it is": {},
    "words are common": {"MANY_TASKS": 0},
    "and nothing else is rare": {"MANY_TASKS": 0, "FEW": 1},
    "one thing is rare": {"MANY_TASKS": 0, "FEW": 12},
    "an unfinished word is not finished": {"_ENDINGS": 0},
    "nor is anything rare": {"_ENDINGS": 0, "FEW": 1},
}


@contextmanager
def _larger(changes: Mapping[str, int]) -> Iterator[None]:
    """A small store in which the list goes the ways of a large one."""
    with pytest.MonkeyPatch.context() as patch:
        for name, number in changes.items():
            patch.setattr(search if hasattr(search, name) else task_filter, name, number)
        yield


@pytest.mark.parametrize("way", WAYS)
@settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(wanted=FILTERS)
def test_a_list_shows_what_fits_each_once_in_its_order(
    crowd: Crowd, way: str, wanted: TaskFilter
) -> None:
    expected = crowd.expected(wanted)

    with _larger(WAYS[way]):
        assert [task.id for task in _pages(crowd, wanted)] == expected
        assert search.ids(crowd.tx, wanted) == expected


def _is_planned(task: Task) -> bool:
    return task.status is Status.READY and task.type is TaskType.SCHEDULED


@pytest.mark.parametrize("way", WAYS)
@settings(
    max_examples=examples(80),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(wanted=FILTERS)
def test_a_count_is_the_length_of_the_list(crowd: Crowd, way: str, wanted: TaskFilter) -> None:
    wanted = replace(wanted, sort=SortOrder.NEWEST)
    with _larger(WAYS[way]):
        counted = search.count(crowd.tx, wanted)

    assert (counted.total, counted.more, counted.cut) == (
        len(crowd.expected(wanted)),
        False,
        False,
    )
    assert _parts(counted) == _naive_parts(crowd, wanted)


@pytest.mark.parametrize("way", WAYS)
@settings(
    max_examples=examples(80),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(wanted=FILTERS, cap=st.integers(1, 45))
def test_a_count_that_was_cut_says_so_and_never_says_too_much(
    crowd: Crowd, way: str, wanted: TaskFilter, cap: int
) -> None:
    wanted = replace(wanted, sort=SortOrder.NEWEST)
    with _larger({**WAYS[way], "EXACT": cap}):
        counted = search.count(crowd.tx, wanted)

    total, parts = len(crowd.expected(wanted)), _naive_parts(crowd, wanted)
    assert counted.total <= min(total, cap)
    assert counted.more or counted.total == total
    assert all(told <= number for told, number in zip(_parts(counted), parts, strict=True))
    everywhere = replace(wanted, asks=False, statuses=())
    if everywhere != TaskFilter(limit=wanted.limit):  # where each part is counted for itself
        assert counted.cut or _parts(counted) == parts
        assert counted.asks_more or counted.asks == parts[-2]


def _parts(counted: search.TaskCount) -> list[int]:
    by_status = [counted.by_status.get(status, 0) for status in Status]
    return [*by_status, counted.asks, counted.planned]


def _naive_parts(crowd: Crowd, wanted: TaskFilter) -> list[int]:
    """By status, with a question, ready for a time: of all that fit, whatever their status."""
    everywhere = replace(wanted, asks=False, statuses=())
    fit = [task for task in crowd.tasks if crowd.fits(task, everywhere)]
    by_status = [sum(task.status is status for task in fit) for status in Status]
    asks = sum(task.id in crowd.asking_ids for task in fit)
    return [*by_status, asks, sum(map(_is_planned, fit))]


def test_without_a_filter_all_are_counted_but_what_was_deleted(crowd: Crowd) -> None:
    counted = search.count(crowd.tx, TaskFilter())

    assert counted.total == sum(task.deleted_at is None for task in crowd.tasks)
    assert counted.by_status == tasks.counts(crowd.tx)
    assert counted.asks == len(crowd.asking_ids)
    assert counted.planned == sum(map(_is_planned, crowd.tasks)) > 0


def test_what_changed_last_of_a_common_word_is_found_however_old_it_is(crowd: Crowd) -> None:
    wanted = TaskFilter(sort=SortOrder.UPDATED, text="task", limit=4)

    with _larger({"MANY_TASKS": 0, "EXACT": 3}):
        assert [task.id for task in _pages(crowd, wanted)] == crowd.expected(wanted)


@pytest.mark.parametrize("sort", [SortOrder.UPDATED, SortOrder.DUE])
@pytest.mark.parametrize("cursor", ["", "x", "1", "1.x", "-1.2", "1.2.3"])
def test_a_cursor_that_is_none_is_refused(crowd: Crowd, sort: SortOrder, cursor: str) -> None:
    with pytest.raises(BadInput, match="no cursor"):
        search.page(crowd.tx, TaskFilter(sort=sort, before=cursor))


def test_a_page_says_which_tasks_wait_for_the_owner(crowd: Crowd) -> None:
    assert search.page(crowd.tx, TaskFilter()).asks == crowd.asking_ids
    assert search.page(crowd.tx, TaskFilter(statuses=(Status.CANCELLED,))).asks == frozenset()
