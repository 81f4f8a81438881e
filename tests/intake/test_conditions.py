"""Limits in the owner's words: found, kept with the task, and enforced when it is sent."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from remit.intake.conditions import find_conditions
from remit.intake.exam import NOW, ZONE, exam_book
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.recurrence import Repeats
from remit.model.reply import Prompt, Reply
from remit.model.review import ReviewAnswer
from remit.model.status import Status
from remit.model.task import Cue, Source, SourceKind, Task
from remit.model.veto import Condition, ConditionKind
from tests.intake.heard_world import Talk
from tests.tables import for_each

KIND = ConditionKind
ALLOWED = """\
- name: Bob
  channels: {whatsapp: "+1555"}
  policy: {whatsapp: allow}
"""


@for_each(
    ("text", "kind", "words"),
    [
        ("text anna 'hi' but not before friday at 9", KIND.NOT_BEFORE, "not before friday at 9"),
        (
            "nicht vor freitag 18 uhr sag jonas hi",
            KIND.NOT_BEFORE,
            "nicht vor freitag 18 uhr",
        ),
        ('send bob "hi" not before friday', KIND.NOT_BEFORE, "not before friday"),
        ("schick bob nicht vor freitag eine mail", KIND.NOT_BEFORE, "nicht vor freitag"),
        ("remind me daily at 9, except on weekends", KIND.NOT_ON, "except on weekends"),
        ("recuérdame cada día menos el domingo", KIND.NOT_ON, "menos el domingo"),
        ("tell may and rose we meet at 5, not carlos", KIND.NOT_TO, "not carlos"),
        ("schreib allen, aber nicht an Will", KIND.NOT_TO, "aber nicht an Will"),
        ("only if it rains tell bob: stay home", KIND.ONLY_IF, "only if it rains"),
        ("when anna has confirmed, text bob 'ok'", KIND.AFTER_OK, "when anna has confirmed"),
        ("text bob 'ok' but wait for my ok", KIND.AFTER_OK, "wait for my ok"),
    ],
)
def test_a_limit_is_found_in_the_words(text: str, kind: ConditionKind, words: str) -> None:
    (found,) = find_conditions(text, exam_book(), NOW, ZONE)

    assert (found.kind, found.words) == (kind, words)


def test_what_is_to_be_sent_sets_no_limit() -> None:
    assert find_conditions('text bob "not before friday"', exam_book(), NOW, ZONE) == ()
    for text in (
        "tell bob: if it rains we meet inside",
        "tell mark: dinner is ready, call me if you're late",
    ):
        typed = [(text.index(":") + 1, len(text))]
        assert find_conditions(text, exam_book(), NOW, ZONE, typed) == ()


async def test_what_is_approved_at_once_goes_out_no_earlier_than_its_limit(tmp_path: Path) -> None:
    friday = datetime(2026, 3, 6, 8, tzinfo=UTC)
    async with Talk(tmp_path, book=ALLOWED) as world:
        task = await world.one('Send Bob "Hi" on WhatsApp, but not before Friday at 9')
        (card,) = await world.waiting()
        await world.decide(card, ReviewAnswer.APPROVE)
        await world.days(3)
        before = len(world.whatsapp.sent)
        await world.days(2)

    assert task.scheduled_for == friday
    assert [each.kind for each in task.conditions] == [KIND.NOT_BEFORE]
    assert "“but not”" in card.question
    assert card.evidence == "Hi"
    assert (before, len(world.whatsapp.sent)) == (0, 1)


async def admitted(world: Talk, condition: Condition) -> Task:
    cue = Cue(
        source=Source(SourceKind.MANUAL, "limited"),
        title="Hi",
        text="Hi",
        delivery=(Delivery("whatsapp", "Bob", "Hi"),),
        conditions=(condition,),
    )
    return await world.app.intake.admit(cue)


async def test_whoever_is_excluded_gets_nothing_even_if_allowed(tmp_path: Path) -> None:
    async with Talk(tmp_path, book=ALLOWED) as world:
        task = await admitted(world, Condition(KIND.NOT_TO, "but not to Bob", names=("Bob",)))
        await world.run()
        ended = await world.get(task.id)

    assert world.whatsapp.sent == []
    assert (ended.status, ended.delivery[0].status) == (Status.FAILED, DeliveryStatus.REFUSED)
    assert "but not to Bob" in (ended.delivery[0].reason or "")


async def test_on_a_day_that_is_excluded_nothing_goes_out(tmp_path: Path) -> None:
    async with Talk(tmp_path, book=ALLOWED) as world:
        today = world.clock.now().weekday()
        limit = Condition(KIND.NOT_ON, "not on Mondays", days=(today,), zone="Europe/Berlin")
        await admitted(world, limit)
        await world.run()
        before = len(world.whatsapp.sent)
        await world.run(timedelta(days=1))

    assert (before, len(world.whatsapp.sent)) == (0, 1)


async def test_a_card_at_intake_is_the_only_question_and_binds_what_it_shows(
    tmp_path: Path,
) -> None:
    async with Talk(tmp_path, book=ALLOWED) as world:
        heard = await world.say('Mum said: send Bob "Hi" on WhatsApp', key="a")
        await world.run()
        before = len(world.whatsapp.sent)
        (card,) = await world.waiting()
        await world.decide(card, ReviewAnswer.EDIT, "Hi there")
        await world.run()
        left = await world.waiting()
        other = await world.say('Mum said: send Bob "No" on WhatsApp', key="b")
        await world.run()
        (second,) = await world.waiting()
        await world.decide(second, ReviewAnswer.DECLINE)
        await world.run()

    assert [each.id for each in heard.reviews] == [card.id]
    assert (before, left, other.tasks[0].status) == (0, [], Status.NEW)
    assert [parcel.body for parcel in world.whatsapp.sent] == ["Hi there"]


class Says:
    """A brain that gives these answers, one after the other."""

    def __init__(self, *replies: str) -> None:
        self._replies = iter(replies)

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        del prompt, session
        return Reply(next(self._replies))


RAIN = Condition(KIND.ONLY_IF, "only if it rains")


@pytest.mark.parametrize(
    ("reply", "sends", "told"),
    [
        ("I looked.\nANSWER: yes; weather.example: rain from 9", 1, "Hi"),
        ("**ANSWER: no**, weather.example: dry all day", 0, "does not hold (weather.example: dry"),
        ("ANSWER: unknown; I have no tool for that", 0, "could not be confirmed (I have no tool"),
        ("ANSWER: yes", 0, "could not be confirmed (the assistant named no source)"),
        ("It rains, I am sure.", 0, "could not be confirmed (the assistant gave no clear answer)"),
        ("ANSWER: yes; a\nANSWER: no; b", 0, "could not be confirmed"),
    ],
)
async def test_only_a_yes_with_a_source_sends_what_depends_on_something(
    tmp_path: Path, reply: str, sends: int, told: str
) -> None:
    async with Talk(tmp_path, book=ALLOWED, brain=Says(reply)) as world:
        task = await admitted(world, RAIN)
        await world.run()
        ended, complaints = await world.get(task.id), await world.complaints()

    assert (ended.status, len(world.whatsapp.sent)) == (Status.COMPLETED, sends)
    assert told in (ended.result_summary or "")
    assert complaints == []


async def test_what_was_looked_up_is_not_looked_up_again_while_the_owner_is_asked(
    tmp_path: Path,
) -> None:
    replies = Says("ANSWER: yes; weather.example", "ANSWER: no; weather.example")
    async with Talk(tmp_path, brain=replies) as world:
        task = await admitted(world, RAIN)
        await world.run()
        (asked,) = await world.waiting()
        await world.decide(asked, ReviewAnswer.APPROVE)
        await world.run()
        ended = await world.get(task.id)

    assert asked.evidence == "Hi"
    assert (ended.status, len(world.whatsapp.sent)) == (Status.COMPLETED, 1)


@pytest.mark.parametrize(
    ("answer", "sends"),
    [(ReviewAnswer.APPROVE, 1), (ReviewAnswer.DROP, 0), (ReviewAnswer.DECLINE, 0)],
)
async def test_without_a_brain_the_owner_says_whether_it_holds(
    tmp_path: Path, answer: ReviewAnswer, sends: int
) -> None:
    async with Talk(tmp_path, book=ALLOWED) as world:
        await admitted(world, RAIN)
        await world.run()
        (asked,) = await world.waiting()
        before = len(world.whatsapp.sent)
        await world.decide(asked, answer)
        await world.run()

    assert "“only if it rains”" in asked.question
    assert (before, len(world.whatsapp.sent)) == (0, sends)


async def test_a_series_that_depends_on_something_looks_at_each_run(tmp_path: Path) -> None:
    replies = Says("ANSWER: no; a", "ANSWER: yes; b", "ANSWER: unknown; c")
    async with Talk(tmp_path, book=ALLOWED, brain=replies) as world:
        first = world.clock.now() + timedelta(hours=1)
        cue = Cue(
            source=Source(SourceKind.MANUAL, "series"),
            title="Umbrella",
            text="Umbrella",
            delivery=(Delivery("whatsapp", "Bob", "Take an umbrella"),),
            scheduled_for=first,
            repeats=Repeats("FREQ=DAILY;COUNT=3", "UTC", first),
            conditions=(RAIN,),
        )
        await world.app.intake.admit(cue)
        await world.days(5)

    assert [each.body for each in world.whatsapp.sent] == ["Take an umbrella"]


async def test_what_waits_for_the_owners_word_goes_out_with_it_and_not_before(
    tmp_path: Path,
) -> None:
    async with Talk(tmp_path, book=ALLOWED) as world:
        heard = await world.say('Send Bob "Hi" on WhatsApp tomorrow at 9, but wait for my ok')
        await world.days(2)
        (card,) = await world.waiting()
        before = len(world.whatsapp.sent)
        await world.decide(card, ReviewAnswer.APPROVE)
        await world.days(1)
        left = await world.waiting()

    assert [each.id for each in heard.reviews] == [card.id]
    assert "It waits for your yes." in card.question
    assert (before, len(world.whatsapp.sent), left) == (0, 1, [])


@pytest.mark.parametrize(("reply", "sends"), [("yes; weather.example", 1), ("no; a.example", 0)])
async def test_a_condition_is_confirmed_once_and_looked_up_when_it_runs(
    tmp_path: Path, reply: str, sends: int
) -> None:
    async with Talk(tmp_path, book=ALLOWED, brain=Says(f"ANSWER: {reply}")) as world:
        heard = await world.say('Send Bob "Hi" on WhatsApp tomorrow at 9, but only if it rains')
        (card,) = await world.waiting()
        await world.decide(card, ReviewAnswer.ANSWER, "yes")
        await world.days(2)
        ended, left = await world.get(heard.tasks[0].id), await world.waiting()

    assert "only if it rains" in card.question
    assert (ended.status, len(world.whatsapp.sent), left) == (Status.COMPLETED, sends, [])
