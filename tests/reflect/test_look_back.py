"""A look back in an app at work: it asks, a yes changes one file, a no is remembered."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from remit import notify
from remit.errors import Transient
from remit.model.codec import JsonMap, from_json
from remit.model.likeness import DraftedLesson, Lesson, ReflectionResult, is_reflection
from remit.model.recurrence import Repeats, Series
from remit.model.review import Review, ReviewAnswer
from remit.model.run import Event, EventKind
from remit.model.status import Actor, Status
from remit.model.task import Creator, Priority, Source, SourceKind, Taint, Task
from remit.plan import priority
from remit.ports import Brain
from remit.reflect import sender_domain
from remit.run import Fail
from remit.settings import DeliverSettings, ReflectSettings, Settings
from remit.store import reflections, runs, series
from remit.system.background import RECOVERED_AFTER
from remit.testing import START, World, script
from remit.wiring.reflection import _NIGHTLY
from tests.engine.rig import until
from tests.reflect.learning import (
    GUIDELINE,
    guidelines,
    lines,
    look_back,
    priority_rules,
    ranked,
    task_of,
    world,
    written,
)
from tests.stage import stage
from tests.tables import for_each

EMAIL: Final = SourceKind.EMAIL
DAY: Final = timedelta(days=1)
RAIN: Final = "It rains all day long in the whole of the north."
LETTER: Final = f"Dear Mum,\n\n{RAIN}"


def learner(home: Path, brain: Brain | None = None) -> World:
    """An app whose brain greets; the owner takes the greeting out."""
    return world(home, brain=brain or script([{"reply": f"<deliverable>{LETTER}</deliverable>"}]))


async def asked(app: World) -> Review:
    for _ in range(5):
        await written(app, RAIN)
    _, found = await look_back(app)
    (review,) = found
    return review


async def test_what_is_always_edited_the_same_way_becomes_a_guideline_that_the_brain_is_told(
    tmp_path: Path,
) -> None:
    brain = script([{"reply": f"<deliverable>{LETTER}</deliverable>"}])
    async with learner(tmp_path, brain=brain) as app:
        review = await asked(app)
        assert review.question.startswith("You took the greeting out of 5 of 5 messages")
        assert f"+{GUIDELINE}" in review.evidence
        assert len(lines(tmp_path)) == 5
        assert all(task in review.evidence for task in _tasks(tmp_path))
        assert guidelines(tmp_path) == ""

        await app.decide(review, ReviewAnswer.APPROVE)
        await app.run()
        task = await app.get(review.task_id)
        assert (task.status, task.result_summary) == (Status.COMPLETED, "1 lesson taken.")
        assert guidelines(tmp_path) == f"{GUIDELINE}\n"

        assert GUIDELINE not in brain.heard[-1]
        await written(app, None)
        assert GUIDELINE in brain.heard[-1]
        assert not app.outbox.sent[-1].body.count("reflect")


def _tasks(home: Path) -> list[str]:
    return [line.partition('"task":"')[2][:31] for line in lines(home)]


async def test_what_the_owner_always_ranks_otherwise_ranks_the_next_task(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        for n in range(5):
            await ranked(app, f"Pay the dentist {n}", Priority.HIGH)
        for n in range(7):
            await ranked(app, f"Water a plant {n}", None)
        task, (review,) = await look_back(app)
        assert "5 of 12 past tasks would change, 5 to what you said yourself." in review.question
        assert (await ranked(app, "Pay the dentist now", None)).priority is Priority.LOW

        await app.decide(review, ReviewAnswer.APPROVE)
        await app.run()
        after = await ranked(app, "Pay the dentist again", None)
        assert after.priority is Priority.HIGH
        assert after.rule is not None
        assert after.rule.name == "learned-about-dentist"
        (change,) = await app.app.reflection.history()
        assert change.task_id == task.id

        await app.app.reflection.revert()
        assert priority_rules(tmp_path) == priority.packaged_text()
        assert (await ranked(app, "Pay the dentist at last", None)).priority is Priority.LOW


async def test_a_mail_of_a_known_sender_is_ranked_by_his_domain_and_not_by_its_words(
    tmp_path: Path,
) -> None:
    (tmp_path / "contacts.yaml").write_text(
        "- name: Anna Smith\n  channels: {email: anna@bank.example}\n"
    )
    mail: JsonMap = {"sender": "anna@bank.example", "sender_verified": True}
    async with world(tmp_path) as app:
        for n in range(5):
            await ranked(
                app,
                f"Catch up with Smith {n}",
                Priority.HIGH,
                taint=Taint.CONTACT,
                kind=SourceKind.EMAIL,
                context=dict(mail),
            )
        _, (review,) = await look_back(app)
        assert "+    when: sender_domain is bank.example" in review.evidence
        assert "smith" not in f"{review.question}{review.evidence}".lower()
        await app.decide(review, ReviewAnswer.APPROVE)
        await app.run()
        later = await ranked(
            app, "Another", None, taint=Taint.CONTACT, kind=SourceKind.EMAIL, context=dict(mail)
        )
    assert later.priority is Priority.HIGH


@pytest.mark.parametrize("answer", [ReviewAnswer.DROP, ReviewAnswer.DECLINE])
async def test_a_no_is_remembered_for_thirty_days(tmp_path: Path, answer: ReviewAnswer) -> None:
    async with learner(tmp_path) as app:
        review = await asked(app)
        _, again = await look_back(app)
        assert again == []  # it is asked already
        await app.decide(review, answer)
        await app.run()
        assert (await look_back(app))[1] == []
        app.clock.advance(29 * DAY)
        await written(app, RAIN)
        assert (await look_back(app))[1] == []
        app.clock.advance(2 * DAY)
        for _ in range(5):
            await written(app, RAIN)
        assert len((await look_back(app))[1]) == 1

    assert guidelines(tmp_path) == ""


async def test_what_was_taken_back_is_not_proposed_again(tmp_path: Path) -> None:
    async with learner(tmp_path) as app:
        await app.decide(await asked(app), ReviewAnswer.APPROVE)
        await app.run()
        await app.app.reflection.revert()
        assert (await look_back(app))[1] == []

    assert guidelines(tmp_path) == ""


async def test_who_says_no_to_one_word_is_not_asked_about_the_next_of_the_same_tasks(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as app:
        for n in range(5):
            await ranked(app, f"Dentist appointment {n}", Priority.HIGH)
        _, (review,) = await look_back(app)
        await app.decide(review, ReviewAnswer.DROP)
        await app.run()
        await ranked(app, "Dentist appointment 6", Priority.HIGH)
        assert (await look_back(app))[1] == []


async def test_a_file_that_was_changed_meanwhile_is_asked_about_anew(tmp_path: Path) -> None:
    async with learner(tmp_path) as app:
        review = await asked(app)
        (tmp_path / "guidelines.txt").write_text("Prices in euros.\n")
        await app.decide(review, ReviewAnswer.APPROVE)
        await app.run()
        (anew,) = await app.waiting()
        assert guidelines(tmp_path) == "Prices in euros.\n"
        assert (anew.task_id, anew.digest != review.digest) == (review.task_id, True)
        await app.decide(anew, ReviewAnswer.APPROVE)
        await app.run()

    assert guidelines(tmp_path) == f"Prices in euros.\n{GUIDELINE}\n"


async def test_what_the_owner_wrote_himself_meanwhile_is_not_put_in_twice(tmp_path: Path) -> None:
    async with learner(tmp_path) as app:
        review = await asked(app)
        (tmp_path / "guidelines.txt").write_text(f"{GUIDELINE}\n")
        await app.decide(review, ReviewAnswer.APPROVE)
        await app.run()
        task = await app.get(review.task_id)

    assert (task.status, task.result_summary) == (Status.COMPLETED, "0 of 1 lessons taken.")
    assert guidelines(tmp_path) == f"{GUIDELINE}\n"


async def test_a_crash_after_the_file_was_written_neither_loses_nor_repeats_it(
    tmp_path: Path,
) -> None:
    async with learner(tmp_path) as app:
        review = await asked(app)
        task = await app.get(review.task_id)
        mirror = app.app.reflection.mirror
        lesson = await _lesson(app, task)
        drafted = await mirror.draft(lesson)
        assert isinstance(drafted, DraftedLesson)
        await app.decide(review, ReviewAnswer.APPROVE)
        await mirror.accept(task, lesson, drafted.digest)  # and died before that was on record
        await app.run()

        assert (await app.get(task.id)).result_summary == "1 lesson taken."
        assert len(await app.app.reflection.history()) == 1
    assert guidelines(tmp_path) == f"{GUIDELINE}\n"


async def test_what_is_written_is_what_was_approved_or_nothing(tmp_path: Path) -> None:
    async with learner(tmp_path) as app:
        review = await asked(app)
        task, mirror = await app.get(review.task_id), app.app.reflection.mirror
        lesson = await _lesson(app, task)
        (tmp_path / "guidelines.txt").write_text("By hand.\n")  # in the very last moment
        with pytest.raises(Transient, match="changed meanwhile"):
            await mirror.accept(task, lesson, str(review.digest))
        assert await app.app.reflection.history() == ()

    assert guidelines(tmp_path) == "By hand.\n"


async def _lesson(app: World, task: Task) -> Lesson:
    kept = await app.app.db.read(runs.steps, task)
    return from_json(ReflectionResult, kept["execute_tool"]).lessons[0]


async def test_three_lessons_a_night_are_asked_one_after_the_other(tmp_path: Path) -> None:
    letter = "Dear Mum,\n\n# Weather\n\n- rain\n- wind\n\nHow nice! 🌧\n\nBest wishes"
    brain = script([{"reply": f"<deliverable>{letter}</deliverable>"}])
    async with learner(tmp_path, brain=brain) as app:
        for _ in range(5):
            await written(app, "Rain and wind over the whole of it, how nice it is.")
        task, waiting = await look_back(app)
        seen = []
        while waiting:
            seen.append(waiting[0].question)
            answer = ReviewAnswer.DROP if len(seen) == 2 else ReviewAnswer.APPROVE
            await app.decide(waiting[0], answer)
            await app.run()
            waiting = await app.waiting()
        assert len(seen) == 3
        assert (await app.get(task.id)).result_summary == "2 of 3 lessons taken."

    assert len(guidelines(tmp_path).splitlines()) == 2


async def test_rules_that_are_wrong_teach_nothing_and_are_told(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        for n in range(5):
            await ranked(app, f"Pay the dentist {n}", Priority.HIGH)
        (tmp_path / "rules").mkdir()
        (tmp_path / "rules/priority.yml").write_text("rules: [")
        task, waiting = await look_back(app)

    assert waiting == []
    assert "is no YAML" in (task.tool_output or "")
    assert task.result_summary == "Nothing to learn."
    assert priority_rules(tmp_path) == "rules: ["


async def test_without_a_mirror_a_look_back_fails_with_a_sentence() -> None:
    played = stage(assigned_agent="reflect")

    assert await played.go() == Fail("There is nothing to look back with here.")


async def test_no_agent_can_ask_for_a_look_back() -> None:
    task = stage(assigned_agent="reflect", created_by=Creator.AGENT).memory.task

    assert not is_reflection(task)


# The nights ---------------------------------------------------------------------------------------


async def test_the_nights_begin_once_there_is_something_to_look_back_on(tmp_path: Path) -> None:
    async with learner(tmp_path) as app:
        back = app.app.reflection
        for _ in range(4):
            await written(app, RAIN)
        await back._caught_up()
        assert await _series(app) == []
        await written(app, RAIN)
        await back._caught_up()
        await back._caught_up()
        (found,) = await _series(app)
        zone = app.app.zone
        first = datetime(2026, 3, 3, 3, 0, tzinfo=zone).astimezone(UTC)
        assert found.repeats == Repeats("FREQ=DAILY", zone.key, first)

        await app.run(DAY)
        (review,) = await app.waiting()
        assert (await app.get(review.task_id)).slot == found.repeats.first
        await app.run(3 * DAY)
        assert await app.waiting() == [review]  # the next night waits for this answer
        await app.decide(review, ReviewAnswer.APPROVE)
        await app.run(DAY)
        assert await app.waiting() == []

    assert guidelines(tmp_path) == f"{GUIDELINE}\n"


async def _series(app: World) -> list[Series]:
    return await app.app.db.read(series.list_series)


@for_each(
    ("to", "agent", "told"),
    [
        ("completed", "reflect", False),  # what it found, it has asked
        ("failed", "reflect", True),
        ("completed", None, True),
    ],
)
def test_a_night_without_a_lesson_is_told_nobody(to: str, agent: str | None, told: bool) -> None:
    task = task_of("task-1", assigned_agent=agent)
    event = Event(7, task.id, 3, EventKind.TASK_MOVED, Actor.EXECUTOR, START, {"to": to}, "")

    assert (notify.telling(event, task) is not None) is told


@for_each(
    ("context", "kind", "found"),
    [
        ({"sender": "anna@Bank.example", "sender_verified": True}, EMAIL, "bank.example"),
        ({"sender": "anna@bank.example", "sender_verified": False}, EMAIL, None),
        ({"sender": "anna@bank.example", "sender_verified": "yes"}, EMAIL, None),
        ({"sender": "anna@bank.example", "sender_verified": True}, SourceKind.AGENT, None),
        ({"sender": "eve@evil.example", "sender_verified": True}, EMAIL, None),
        ({"sender": ["anna@bank.example"], "sender_verified": True}, EMAIL, None),
        ({}, EMAIL, None),
    ],
)
def test_a_domain_counts_only_if_it_is_proven_and_in_the_owners_own_book(
    context: JsonMap, kind: SourceKind, found: str | None
) -> None:
    task = task_of("task-1", context=context, source=Source(kind, "1"), taint=Taint.PUBLIC)

    assert sender_domain(task, {"bank.example"}) == found


async def test_nights_that_are_switched_off_rest(tmp_path: Path) -> None:
    async with learner(tmp_path) as app:
        await app.app.reflection.begin()
        await app.run()
    off = Settings(
        home=tmp_path, deliver=DeliverSettings(undo=0), reflect=ReflectSettings(nightly=False)
    )
    async with learner(tmp_path / "never") as app:
        await app.app.db.write(reflections.pause_series_of, _NIGHTLY, app.now)  # there is none
    async with World(tmp_path, settings=off) as app:
        await app.app.reflection._caught_up()
        await app.app.reflection._caught_up()
        (found,) = await _series(app)
        assert found.paused_at is not None
        await app.app.db.write(reflections.pause_series_of, _NIGHTLY, app.now)
        await app.run(3 * DAY)
        assert await app.waiting() == []


async def test_what_ends_while_remit_is_up_is_written_down(tmp_path: Path) -> None:
    async with learner(tmp_path) as app:
        await written(app, None)
        app.app.reflection.start()
        await written(app, None)
        await app.app.reflection.close()
        await app.app.reflection.harvest.catch_up()

    assert len(lines(tmp_path)) == 2


async def test_a_folder_that_cannot_be_written_is_shown_as_failing_until_it_can(
    tmp_path: Path,
) -> None:
    async with learner(tmp_path) as app:
        (tmp_path / "reflections").write_text("in the way")
        await written(app, None)
        loops = app.app.background
        app.app.reflection.start()
        await until(lambda: [each.name for each in loops.failing] == ["learning records"])
        assert "FileExistsError" in loops.failing[0].error
        (tmp_path / "reflections").unlink()

        async def is_written() -> bool:
            app.clock.advance(timedelta(seconds=1))
            return bool(lines(tmp_path))

        await until(is_written)
        app.clock.advance(RECOVERED_AFTER)
        assert loops.failing == ()
