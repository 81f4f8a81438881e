"""What the owner answers changes the task, by code, where the decision is written down."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.errors import BadInput
from remit.intake.admit import make
from remit.intake.extraction import QuestionTopic
from remit.intake.hear import ledgers
from remit.intake.settle import settle
from remit.model.contract import ClauseOutcome, Gap, OwnerRequest
from remit.model.ids import Ids, TaskId
from remit.model.review import ReviewAnswer
from remit.model.run import EventKind
from remit.model.status import Status
from remit.model.task import Cue, Source, SourceKind, Task, TaskType
from remit.testing import script
from tests.intake.heard_world import Talk, fates, plans
from tests.intake.labelled import BOOK, NOW, ZONE, Message, messages
from tests.soak import examples

LIST = "I looked. <deliverable>Wat Pho.</deliverable>"


async def test_a_day_alone_is_nine_o_clock_for_the_owner_and_is_echoed(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        task = await world.one("Remind me tomorrow to call Bob")
        asked = await world.asked()

    assert (asked, task.gaps) == ([], ())
    assert task.scheduled_for == datetime(2026, 3, 3, 8, tzinfo=UTC)


async def test_a_vague_time_is_asked_answered_and_runs_then(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        task = await world.one("Remind me soon to call Bob")
        await world.days(0.1)
        waits = await world.get(task.id)
        (review,) = await world.asked()
        settled = await world.answer("tomorrow at 9:30")
        await world.days()
        ended = await world.get(task.id)
        complaints = await world.complaints()

    assert (waits.status, review.key) == (Status.NEW, "card:0")
    assert review.evidence.splitlines()[:2] == [
        "You said: Remind me soon to call Bob",
        "Task: Call Bob",
    ]
    assert settled.scheduled_for == datetime(2026, 3, 3, 8, 30, tzinfo=UTC)
    assert ("soon", ClauseOutcome.TIME) in fates(settled)
    assert settled.gaps == ()
    assert ended.status is Status.COMPLETED
    assert ended.completed_at == settled.scheduled_for
    assert complaints == []


async def test_what_cannot_be_read_is_asked_again_and_never_guessed(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        task = await world.one('Send Bob tomorrow "Call me" on WhatsApp')
        unread = await world.answer("when you think it fits")
        (again,) = await world.asked()
        past = await world.answer("yesterday at 9")
        (third,) = await world.asked()
        late = await world.answer("today at 9")
        (fourth,) = await world.asked()
        settled = await world.answer("at 10")

    assert [each.scheduled_for for each in (unread, past, late)] == [None] * 3
    assert [each.key for each in (again, third, fourth)] == ["card:1", "card:2", "card:3"]
    assert "'when you think it fits' cannot be read as an answer" in again.question
    assert "has passed" in fourth.question
    assert settled.scheduled_for == datetime(2026, 3, 3, 9, tzinfo=UTC)
    assert settled.notes == ("when you think it fits", "yesterday at 9", "today at 9", "at 10")
    assert task.gaps != ()


async def test_a_time_may_become_a_rule_or_now(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        await world.one("Remind me to stretch")
        often = await world.answer("every Monday at 9")
        await world.say("Remind me soon to eat", "b")
        now = await world.answer("now")
        await world.run()
        ended = await world.get(now.id)

    assert often.repeats is not None
    assert often.repeats.rule == "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0"
    assert often.scheduled_for == often.repeats.first
    assert (now.type, now.scheduled_for) == (TaskType.IMMEDIATE, None)
    assert ended.status is Status.COMPLETED


async def test_an_unknown_recipient_is_asked_and_gets_it_once_he_is_named(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        task = await world.one('Send Zoltan "Happy birthday!" on WhatsApp')
        nobody = await world.answer("Zoltan")
        settled = await world.answer("Mum")
        await world.run()
        await world.approve()
        ended = await world.get(task.id)
        complaints = await world.complaints()

    assert (plans(task), plans(nobody)) == ([], [])
    assert plans(settled) == [("whatsapp", "Mum", "Happy birthday!")]
    assert settled.plan.precomposed
    assert ended.status is Status.COMPLETED
    assert [(each.recipient, each.body) for each in world.whatsapp.sent] == [
        ("+1777", "Happy birthday!")
    ]
    assert complaints == []


async def test_who_was_unknown_may_be_put_into_the_book(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        await world.one('Send Zoltan "Happy birthday!" by email')
        (tmp_path / "contacts.yaml").write_text("- {name: Zoltan, channels: {email: z@x.org}}\n")
        settled = await world.answer("Zoltan")

    assert plans(settled) == [("email", "Zoltan", "Happy birthday!")]


Sends = list[tuple[str, str | None, str | None]]
HI: Sends = [("email", "Bob", "Hi")]
WEBER: Sends = [("email", "Anna Weber", "Hi")]
ALL: Sends = [*HI, ("whatsapp", "Mum", "Hi"), ("email", None, "Hi")]
UMBRELLA = "take the  umbrella; it rains"
# What was said, a part of the question, and each answer with what is planned then.
ANSWERED: list[tuple[str, str, dict[str, Sends]]] = [
    ('Send Zoltan "Hi" on Signal', "2 things are open. 1: ", {"Bob": [], "email": HI}),
    ('Send Zoltan "Hi" on Signal', "2 things are open. 1: ", {"email": [], "Bob": HI}),
    ('Send Zoltan "Hi" on WhatsApp', "Who is 'Zoltan'?", {"Anna Weber": [], "email": WEBER}),
    ('Email Anna "Hi"', "Which Anna is meant?", {"Anna": [], "Anna Weber": WEBER}),
    (
        'Send Bob, Mum and me "Hi" by email and on WhatsApp',
        "through which channel?",
        {
            "Bob by email, the rest on WhatsApp": [],
            "Bob by email and Mum on WhatsApp": [],
            "Bob by email, Mum on WhatsApp and me by email": ALL,
        },
    ),
    ('Send Zoltan "Hi" by email', "Who is", {"Bob and Anna": [], "Bob and Anna Weber": []}),
    ("Write to Bob by email", "", {'"See  you at 5"': [("email", "Bob", "See  you at 5")]}),
    ("Write to Mum on WhatsApp", "", {"a birthday greeting": [("whatsapp", "Mum", None)]}),
    ("Remind me tomorrow at 9", "reminder about?", {UMBRELLA: [("dashboard", None, UMBRELLA)]}),
]


async def test_an_answer_is_planned_once_it_leaves_nothing_open(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        for n, (text, question, answers) in enumerate(ANSWERED):
            await world.say(text, f"key:{n}")
            (review,) = await world.asked()
            assert question in review.question, text
            for answer, planned in answers.items():
                task = await world.answer(answer)
                assert plans(task) == planned, (text, answer)
            for left in await world.asked():
                await world.decide(left, ReviewAnswer.DECLINE)


async def test_an_answer_that_asks_for_more_is_not_taken_for_a_thing(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        await world.one("Write to Bob by email")
        more = await world.answer("the report, and send it to Mum on WhatsApp too")
        asked = await world.asked()

    assert more.work == ()
    assert [each.key for each in asked] == ["card:1"]


async def test_two_times_for_one_task_are_asked_about_again(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        await world.one('Send Bob tomorrow "Call me" on WhatsApp')
        settled = await world.answer("at 9 and at 17:00")

    assert (settled.scheduled_for, len(settled.gaps)) == (None, 1)


async def test_a_channel_this_app_lacks_is_asked_about(tmp_path: Path) -> None:
    async with Talk(tmp_path, brain=script([{"reply": LIST}])) as world:
        task = await world.one("Research Bangkok and send me the list on Telegram")
        unknown = await world.answer("by fax")
        settled = await world.answer("by email, please")
        await world.run()
        ended = await world.get(task.id)

    assert (plans(task), plans(unknown)) == ([], [])
    assert plans(settled) == [("email", None, None)]
    assert ended.status is Status.COMPLETED
    assert [each.body for each in world.email.sent] == ["Wat Pho."]


async def test_what_is_to_be_done_is_read_like_any_request(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        await world.one("Tomorrow at 9")
        (review,) = await world.asked()
        settled = await world.answer("Research Bangkok and send Bob the list by email")

    assert review.question == "What is to be done?"
    assert [item.description for item in settled.work] == ["Research Bangkok"]
    assert plans(settled) == [("email", "Bob", None)]
    assert settled.scheduled_for == datetime(2026, 3, 3, 8, tzinfo=UTC)
    assert "Research Bangkok" in settled.instructions
    assert settled.title != "Tomorrow at 9"


@pytest.mark.parametrize("answer", ["thanks!", "remind me at 5pm to eat and email Bob 'Hi'"])
async def test_what_is_no_one_thing_to_do_is_asked_again(tmp_path: Path, answer: str) -> None:
    async with Talk(tmp_path) as world:
        await world.one("Tomorrow at 9")
        settled = await world.answer(answer)

    assert (settled.work, len(settled.gaps)) == ((), 1)


@pytest.mark.parametrize("words", ["leave it out", "Weglassen", "déjalo"])
async def test_a_clause_is_left_out_and_the_rest_is_done(tmp_path: Path, words: str) -> None:
    async with Talk(tmp_path, brain=script([{"reply": LIST}])) as world:
        task = await world.one("Research Bangkok and send Zoltan the list on Signal")
        settled = await world.answer(words)
        open_ = await world.asked()
        await world.run()
        ended = await world.get(task.id)

    assert [became for _, became in fates(settled)].count(ClauseOutcome.DECLINED) == 1
    assert (open_, settled.gaps) == ([], ())
    assert plans(settled) == [("dashboard", None, None)]
    assert ended.status is Status.COMPLETED
    assert world.whatsapp.tried + world.email.tried == []


async def test_of_what_is_left_out_whole_nothing_is_done(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        await world.one('Send Zoltan "Hi" on Signal')
        settled = await world.answer("leave it out")
        await world.days()
        left = await world.waiting()
        complaints = await world.complaints()

    assert (settled.status, left, complaints) == (Status.CANCELLED, [], [])


async def test_a_question_that_is_declined_ends_the_task_with_all_it_asked(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        await world.one('Send Zoltan "Hi" on Signal')
        ended = await world.decide((await world.asked())[0], ReviewAnswer.DECLINE)
        left = await world.waiting()

    assert (ended.status, left) == (Status.CANCELLED, [])


async def test_a_time_that_passed_while_the_answer_was_awaited_is_asked_about(
    tmp_path: Path,
) -> None:
    async with Talk(tmp_path) as world:
        await world.one('Tomorrow at 9 send Zoltan "Hi" on WhatsApp')
        await world.days(5)
        waits = await world.answer("Mum")
        (review,) = await world.asked()
        settled = await world.answer("tomorrow")

    assert waits.status is Status.NEW
    assert "has passed meanwhile" in review.question
    assert settled.scheduled_for == datetime(2026, 3, 8, 8, tzinfo=UTC)


async def test_a_paused_task_can_be_answered_and_goes_on_when_it_is_resumed(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        task = await world.one("Remind me soon to call Bob")
        await world.run()
        await world.app.owner.pause(task.id)
        settled = await world.answer("now")
        await world.run()
        stays = await world.get(task.id)
        await world.app.owner.resume(task.id)
        await world.run()
        ended = await world.get(task.id)

    assert (settled.status, stays.status) == (Status.PAUSED, Status.PAUSED)
    assert ended.status is Status.COMPLETED


async def test_the_journal_tells_what_an_answer_changed(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        task = await world.one('Send Zoltan "Hi" on WhatsApp')
        await world.answer("Mum")
        told = await world.history(task.id)

    (changed,) = [each for each in told if each.kind is EventKind.TASK_UPDATED]
    planned = changed.data["delivery"]
    assert isinstance(planned, list)
    sends = [(each["recipient"], each["content"]) for each in planned if isinstance(each, dict)]
    assert sends == [("Mum", "Hi")]


async def test_a_book_nobody_can_read_keeps_the_question_open(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        await world.one('Send Zoltan "Hi" on WhatsApp')
        (tmp_path / "contacts.yaml").write_text("- nonsense")
        await world.restart()
        with pytest.raises(BadInput, match="line 1"):
            await world.answer("Mum")
        open_ = await world.asked()

    assert len(open_) == 1


def task_with(text: str, gap: Gap, **more: object) -> Task:
    """A task made by hand, for questions that only another reader asks."""
    cue = Cue(source=Source(SourceKind.MANUAL, "k"), title=text, text=text)
    task = make(cue, Ids(lambda: NOW, lambda _: 7), NOW)
    assert task.request is not None
    return replace(task, gaps=(gap,), **more)


def test_what_was_only_to_be_confirmed_stands_after_a_yes() -> None:
    gap = Gap(1, QuestionTopic.TASK.value, ("yes", "leave it out"))
    task = task_with("Research Bangkok", gap)

    yes = settle(task, gap, "Ja!", now=NOW, zone=ZONE, book=BOOK)
    no = settle(task, gap, "leave it out", now=NOW, zone=ZONE, book=BOOK)

    assert (yes.task.gaps, yes.task.work, yes.over) == ((), (), False)
    assert no.over
    assert no.task.request is not None
    assert [clause.became for clause in no.task.request.clauses] == [ClauseOutcome.DECLINED]


def test_a_yes_takes_the_one_option_there_is() -> None:
    gap = Gap(1, QuestionTopic.CHANNEL.value, ("email",))
    task = task_with("Research Bangkok", gap)

    made = settle(task, gap, "yes", now=NOW, zone=ZONE, book=BOOK)

    assert [each.channel for each in made.task.delivery] == ["email"]


ANSWERS = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "tomorrow at 9",
            "9:30",
            "now",
            "Bob",
            "Anna",
            "email",
            "Bob by email",
            '"Hi"',
            "leave it out",
            "yes",
            "a poem",
            "every day at 9",
        ]
    ),
)


@cache
def asked() -> tuple[Message, ...]:
    read = [(each, each.read()) for each in messages()]
    return tuple(each for each, found in read if found.tasks and found.questions)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    message=st.deferred(lambda: st.sampled_from(asked())),
    answers=st.lists(ANSWERS, min_size=1, max_size=4),
)
def test_whatever_is_answered_a_clause_is_settled_or_asked_about(
    message: Message, answers: list[str]
) -> None:
    found = message.read()
    ledger = next(each for each in ledgers(found) if each.gaps)
    gaps = ledger.gaps
    task = replace(
        task_with("x", gaps[0]),
        id=TaskId("task-1"),
        gaps=gaps,
        request=OwnerRequest(message.say, ledger.clauses),
        work=ledger.draft.work,
        delivery=ledger.draft.deliveries,
        scheduled_for=ledger.draft.scheduled_for,
    )
    for answer in answers:
        if not task.gaps or not answer.strip():
            break
        gap = task.gaps[0]
        made = settle(task, gap, answer, now=NOW, zone=ZONE, book=BOOK)
        assert made.task.request is not None
        named = {each.clause for each in made.task.gaps}
        for n, clause in enumerate(made.task.request.clauses, 1):
            assert clause.became is not None or n in named or made.over
        if made.problem:
            assert gap.key in {each.key for each in made.task.gaps}
        elif not made.over:
            assert made.task != task  # a line is settled, or the task is changed
        assert all(each.channel for each in made.task.delivery)
        task = replace(made.task, notes=(*made.task.notes, answer))


REFUSED = {
    ("Erinnere mich bald ans Essen", "wenn der Mond blau ist"): (
        "'wenn der Mond blau ist' lässt sich nicht als Antwort lesen. Sag eine Zeit wie „morgen um"
        " 9:30“. Oder sag „lass es weg“."
    ),
    ('Schick Otto "Hallo" per WhatsApp', "dem netten Nachbarn"): (
        "'dem netten Nachbarn' lässt sich nicht als Antwort lesen. Nenne jemanden aus deinen"
        " Kontakten, oder nimm die Person zuerst auf. Oder sag „lass es weg“."
    ),
    ("Recuérdame pronto comer", "cuando la luna sea azul"): (
        "'cuando la luna sea azul' no se puede leer como respuesta. Di una hora como «mañana a las"
        " 9:30». O di «omítelo»."
    ),
}


@pytest.mark.parametrize(("message", "refusal"), REFUSED.items())
async def test_why_an_answer_is_not_taken_comes_in_the_language_of_the_message(
    tmp_path: Path, message: tuple[str, str], refusal: str
) -> None:
    async with Talk(tmp_path) as world:
        await world.one(message[0])
        await world.answer(message[1])
        (again,) = await world.asked()

    assert again.question.startswith(refusal)
