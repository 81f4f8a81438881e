"""Calendars in the store: what their events name follows them until it begins, each start once."""

from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.model.ids import SeriesId, TaskId
from remit.model.status import Status
from remit.model.task import Source, SourceKind, Taint
from remit.store import audit, calendars, moves, occurrences, slots, tasks
from remit.store.calendars import StoredCalendar, StoredResource
from remit.store.database import Tx
from remit.store.occurrences import OccurrenceState, ReadResource, StoredOccurrence
from tests.soak import examples
from tests.store.scene import AT, Scene

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
MINE = StoredCalendar("own", "/agenda/", "Agenda", marked=True, trusted=True)
THEIRS = StoredCalendar("work", "/team/", "Team", marked=True)


def resource(
    uid: str = "a", calendar: StoredCalendar = MINE, why: str | None = None, path: str = "/a.ics"
) -> StoredResource:
    until = AT + 35 * DAY
    return StoredResource(calendar.account, calendar.path, path, '"1"', uid, "BEGIN:…", until, why)


def start(at: datetime = AT + HOUR, key: str = "", **more: object) -> StoredOccurrence:
    plain = StoredOccurrence(uid="a", key=key, start=at, title="Plants", text="", taint=Taint.OWNER)
    return replace(plain, **more)


def follow(
    scene: Scene, *starts: StoredOccurrence, of: StoredResource | None = None, idle: str = "-"
) -> None:
    found = ReadResource(of or resource(), starts, frozenset({idle}), AT - DAY, AT - HOUR)
    scene.do(occurrences.follow, found, scene.now)


def held(scene: Scene, key: str = "", uid: str = "a") -> StoredOccurrence:
    return next(each for each in scene.do(occurrences.of_event, uid) if each.key == key)


def give(scene: Scene, key: str = "") -> TaskId:
    """Make the task of an occurrence, as intake does."""
    each = held(scene, key)
    ref = f"{each.uid}:{each.key}#{each.tries}"
    task = scene.admit(
        each.title, source=Source(SourceKind.CALDAV, ref), scheduled_for=each.start, slot=each.start
    )
    scene.do(occurrences.give, each, task.id, scene.now)
    return task.id


def whole(scene: Scene) -> None:
    """The store says the same as its journal."""
    assert list(audit.complaints(scene.tx, whole=True)) == []


def task(scene: Scene, task_id: TaskId | None) -> tuple[str, str, datetime | None]:
    assert task_id is not None
    found = scene.do(tasks.get, task_id)
    return found.title, found.status.value, found.scheduled_for


def test_a_calendar_is_kept_with_what_was_read_and_what_went_wrong(scene: Scene) -> None:
    scene.do(calendars.note, MINE)
    scene.do(calendars.note, replace(MINE, name="Diary", trusted=False))
    scene.do(calendars.store_sync_token, "own", "/agenda/", "token-1", AT)
    scene.do(calendars.store_failure, "own", "/agenda/", "It is away.")
    follow(scene)
    (found,) = scene.do(calendars.list_calendars)

    expected = StoredCalendar("own", "/agenda/", "Diary", marked=True, token="token-1", looked=AT)
    assert found == replace(expected, why="It is away.", resources=1)
    assert scene.do(calendars.etags, "own", "/agenda/") == {"/a.ics": '"1"'}
    scene.do(calendars.forget_calendar, "own", "/agenda/", "it is gone")
    assert scene.do(calendars.list_calendars)[0].token == ""
    assert scene.do(calendars.list_calendars)[0].looked == AT


def test_a_task_that_has_not_begun_follows_its_event(scene: Scene) -> None:
    follow(scene, start())
    task_id = give(scene)
    scene.now += timedelta(minutes=1)
    follow(scene, start(AT + 2 * HOUR, title="Trees", text="All of them"))

    assert task(scene, task_id) == ("Trees", "new", AT + 2 * HOUR)
    assert scene.do(tasks.get, task_id).instructions == "All of them"
    whole(scene)


def test_what_the_owner_changed_is_left_where_the_event_did_not_change(scene: Scene) -> None:
    follow(scene, start())
    task_id = give(scene)
    scene.sql("UPDATE tasks SET title = 'My own words' WHERE id = ?", task_id)
    follow(scene, start(AT + 2 * HOUR))

    assert task(scene, task_id) == ("My own words", "new", AT + 2 * HOUR)


def test_what_is_outside_of_what_was_read_is_not_taken_out(scene: Scene) -> None:
    follow(scene, start(AT - HOUR, "old"))
    found = ReadResource(resource(), (), frozenset(), AT, AT)
    scene.do(occurrences.follow, found, AT)

    assert held(scene, "old").state is OccurrenceState.PLANNED


def test_a_paused_task_that_has_not_begun_is_dropped_too(scene: Scene) -> None:
    follow(scene, start())
    task_id = give(scene)
    scene.do(moves.pause, task_id, AT)
    follow(scene)

    assert task(scene, task_id)[1] == Status.CANCELLED


def test_what_is_put_back_gets_a_task_of_its_own(scene: Scene) -> None:
    follow(scene, start())
    first = give(scene)
    follow(scene)
    follow(scene, start())
    assert (held(scene).state, held(scene).tries) == (OccurrenceState.PLANNED, 1)
    second = give(scene)

    assert first != second
    assert scene.do(tasks.get, first).slot is None  # it left its place
    follow(scene)
    follow(scene, start())
    assert held(scene).tries == 2
    whole(scene)


def test_what_is_cancelled_in_the_calendar_is_dropped_and_may_come_back(scene: Scene) -> None:
    follow(scene, start())
    follow(scene, start(), idle="")
    assert held(scene).why == occurrences.CANCELLED
    follow(scene, start(), idle="")
    follow(scene, start())
    assert held(scene).state is OccurrenceState.PLANNED
    scene.sql("DELETE FROM occurrences")
    follow(scene, start(), idle="")
    assert held(scene).why == occurrences.CANCELLED


def test_of_two_with_one_uid_the_trusted_one_counts_and_the_other_inherits(scene: Scene) -> None:
    for each in (MINE, THEIRS):
        scene.do(calendars.note, each)
    theirs, mine = resource(calendar=THEIRS), resource(calendar=MINE)
    follow(scene, start(title="Theirs"), of=theirs)
    assert held(scene).title == "Theirs"
    follow(scene, start(title="Mine"), of=mine)
    follow(scene, start(title="Theirs again"), of=theirs)
    assert (held(scene).title, held(scene).account) == ("Mine", "own")

    heir = scene.do(occurrences.forget, mine, AT)
    assert heir == theirs
    assert (
        held(scene).state is OccurrenceState.PLANNED
    )  # the heir is read again, and says what holds
    assert scene.do(occurrences.forget, theirs, AT) is None
    assert held(scene).why == occurrences.REMOVED


def test_a_place_in_a_series_is_taken_once(scene: Scene) -> None:
    series = SeriesId("ser-1")
    follow(scene, start(AT + HOUR, "1"), start(AT + HOUR, "2"), start(AT + DAY, "3"))
    one, two, three = (held(scene, key) for key in "123")
    ask = (series, AT + HOUR, "a:1")
    assert not scene.do(occurrences.is_taken, one, *ask)
    first = scene.admit(source=Source(SourceKind.CALDAV, "a:1"), series_id=series, slot=AT + HOUR)
    scene.do(occurrences.give, one, first.id, AT)

    assert not scene.do(occurrences.is_taken, one, *ask)  # by itself
    assert scene.do(occurrences.is_taken, three, series, AT + HOUR, "a:3")
    assert scene.do(occurrences.is_taken, two, series, AT + 2 * HOUR, "a:2")  # its very time
    assert not scene.do(occurrences.is_taken, three, series, AT + DAY, "a:3")


def test_what_had_not_begun_when_the_next_one_was_due_is_passed_over(scene: Scene) -> None:
    follow(scene, start(AT - HOUR / 2, "1"), start(AT, "2"))
    older = give(scene, "1")
    newer = give(scene, "2")

    assert scene.do(tasks.get, older).result_summary == f"Skipped: {slots.NOT_BEGUN}."
    assert task(scene, newer)[1] == "new"
    assert [each.ahead for each in scene.do(occurrences.waiting, AT, AT + DAY, 9)] == []


def test_what_comes_later_and_is_given_already_is_known(scene: Scene) -> None:
    follow(scene, start(AT + HOUR, "1"), start(AT + 2 * HOUR, "2"))
    give(scene, "2")

    (first,) = scene.do(occurrences.waiting, AT, AT + DAY, 9)
    assert (first.key, first.ahead) == ("1", True)


_STARTS = st.dictionaries(
    st.sampled_from("1234"), st.integers(-2, 6).map(lambda n: AT + n * HOUR), max_size=4
)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(_STARTS, st.booleans(), st.sampled_from("1234-")), max_size=8))
def test_whatever_becomes_of_an_event_each_start_has_one_live_task_at_most(
    changes: list[tuple[dict[str, datetime], bool, str]],
) -> None:
    with TemporaryDirectory() as folder:
        scene = Scene(Path(folder) / "agent.db")
        begun: set[str] = set()
        for named, runs, idle in changes:
            follow(scene, *(start(at, key) for key, at in named.items()), idle=idle)
            for each in scene.do(occurrences.waiting, AT, AT + DAY, 9):
                give(scene, each.key)
            if runs:
                scene.sql("UPDATE tasks SET started_at = 1 WHERE status IN ('new', 'ready')")
            begun |= {each.key for each in _begun(scene)}
            live = scene.sql(
                "SELECT source_ref FROM tasks WHERE status <> 'cancelled' OR started_at IS NOT NULL"
            )
            keys = [str(row["source_ref"]).partition(":")[2].partition("#")[0] for row in live]
            assert len(keys) == len(set(keys)), "a start has two tasks"
        assert begun <= {each.key for each in scene.do(occurrences.of_event, "a")}
        whole_again = [each for each in scene.do(occurrences.of_event, "a") if each.key in begun]
        assert all(each.state is OccurrenceState.GIVEN for each in whole_again), (
            "what ran was forgotten"
        )
        scene.close()


def _begun(scene: Scene) -> list[StoredOccurrence]:
    def ran(tx: Tx) -> list[StoredOccurrence]:
        found = occurrences.of_event(tx, "a")
        given = [each for each in found if each.state is OccurrenceState.GIVEN and each.task_id]
        return [
            each for each in given if tasks.find_row(tx, TaskId(str(each.task_id)))["started_at"]
        ]

    return scene.do(ran)
