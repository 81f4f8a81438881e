"""A model's reading beside code's: what the owner said is not lost, what he did not stays out."""

from copy import deepcopy
from dataclasses import replace
from datetime import datetime
from typing import cast

import pytest

from remit.intake.compare import YES
from remit.intake.compare_matter import LEAVE_OUT
from remit.model.delivery import Delivery
from remit.model.plan import Became
from remit.model.task import TaskType
from tests.intake.changes import (
    Change,
    Raw,
    add_send,
    add_work,
    both,
    changed,
    drop_clause,
    entries,
    merge,
    same,
    set_clause,
    set_send,
    set_task,
    shift,
    split,
    task,
)
from tests.intake.plans import (
    ASKED,
    BALI,
    CHANNEL,
    DROPPED,
    FRENCH,
    FRENCH_REMINDER,
    GERMAN,
    LISBON,
    MIXED,
    MONDAYS,
    NOTED,
    PARAPHRASED,
    PLUMBER,
    PRECISE,
    QUOTED,
    REPORT,
    TIME,
    TOPIC,
    TRAINS,
    TWO,
    WORK,
    Asked,
)
from tests.intake.proposals import join, lost, new_questions, read


@pytest.mark.parametrize(("say", "change"), PARAPHRASED.values(), ids=PARAPHRASED)
def test_a_faithful_plan_is_taken_without_a_question(say: str, change: Change) -> None:
    found = read(say)

    joined = join(say, changed(found, change))

    assert joined.questions == found.questions
    assert lost(say, joined) == []
    for before, after in zip(found.tasks, joined.tasks, strict=True):
        assert after.deliveries == before.deliveries
        assert after.scheduled_for == before.scheduled_for
        assert after.recurrence == before.recurrence


@pytest.mark.parametrize("row", ASKED.values(), ids=ASKED)
def test_what_the_plan_leaves_out_or_changes_is_asked(row: Asked) -> None:
    joined = join(row.say, changed(read(row.say), row.change))

    asked = new_questions(row.say, joined)
    words = [(each.about, joined.clauses[each.clause].text) for each in asked]
    assert any(about is row.about and row.clause in text for about, text in words), words
    assert lost(row.say, joined) == []
    assert all(each.options and "? " in f"{each.sentence} " for each in asked)


@pytest.mark.parametrize(("say", "change", "noted"), NOTED.values(), ids=NOTED)
def test_what_the_model_adds_is_dropped_and_said(say: str, change: Change, noted: str) -> None:
    found = read(say)

    joined = join(say, changed(found, change))

    assert joined.questions == found.questions
    assert [each.deliveries for each in joined.tasks] == [each.deliveries for each in found.tasks]
    assert [each.scheduled_for for each in joined.tasks] == [
        each.scheduled_for for each in found.tasks
    ]
    assert any(noted in note for draft in joined.tasks for note in draft.notes)


@pytest.mark.parametrize(("say", "change"), DROPPED.values(), ids=DROPPED)
def test_words_that_are_not_the_owners_do_not_replace_his(say: str, change: Change) -> None:
    found = read(say)

    joined = join(say, changed(found, change))

    for before, after in zip(found.tasks, joined.tasks, strict=True):
        assert replace(after, notes=before.notes) == before
    assert joined.questions == found.questions


# What is taken ------------------------------------------------------------------------------------


def test_a_title_work_and_more_instructions_are_taken() -> None:
    change = set_task(
        title="Best family beaches in Bali",
        instructions="Research the best beaches in Bali for families with small children",
        work=["Research beaches in Bali", "Pick the best beaches for families"],
    )

    joined = join(BALI, changed(read(BALI), change))

    draft = joined.tasks[0]
    assert draft.title == "Best family beaches in Bali"
    assert draft.instructions.startswith(read(BALI).tasks[0].instructions)
    assert draft.instructions.endswith("with small children")
    assert [item.description for item in draft.work] == [
        "Research beaches in Bali",
        "Pick the best beaches for families",
    ]


def test_a_text_of_the_owner_needs_no_brain_whatever_the_model_says() -> None:
    change = both(set_task(title="Anniversary wishes to Alice"), add_work("Happy anniversary"))

    joined = join(PRECISE, changed(read(PRECISE), change))

    assert joined.tasks == read(PRECISE).tasks


def test_work_alone_is_split_as_the_model_splits_it() -> None:
    joined = join(WORK, changed(read(WORK), split))

    assert [draft.title for draft in joined.tasks] == [
        "Research hotels in Rome",
        "Summarise the contract",
    ]
    assert [len(draft.clauses) for draft in joined.tasks] == [1, 1]
    assert joined.questions == ()
    assert lost(WORK, joined) == []


@pytest.mark.parametrize("say", [PLUMBER, LISBON, GERMAN])
def test_what_is_sent_or_timed_is_not_split(say: str) -> None:
    joined = join(say, changed(read(say), split))

    assert [draft.deliveries for draft in joined.tasks] == [
        draft.deliveries for draft in read(say).tasks
    ]
    assert lost(say, joined) == []


def test_work_that_has_a_time_from_elsewhere_is_not_split() -> None:
    say = TRAINS

    def halve(raw: Raw) -> None:
        cast("list[object]", raw["tasks"]).append(deepcopy(task(raw, 1)))
        task(raw, 2)["title"] = "Summary"
        set_clause(4, task=3)(raw)

    joined = join(say, changed(read(say), halve))

    assert len(joined.tasks) == 2
    assert joined.tasks[1].scheduled_for == read(say).tasks[1].scheduled_for


def test_a_time_from_elsewhere_is_asked_about_too() -> None:
    say = TRAINS

    joined = join(say, changed(read(say), set_task(number=1, scheduled_for=None)))

    (question,) = joined.questions
    assert question.about is TIME
    assert "'Tomorrow at 8' for 'research hotels'" in question.sentence
    assert lost(say, joined) == []


def test_a_rule_from_elsewhere_is_offered_in_its_own_words() -> None:
    say = MONDAYS

    joined = join(say, changed(read(say), set_task(number=1, recurrence=None)))

    (question,) = joined.questions
    assert question.options == ("Every Monday at 9",)
    assert lost(say, joined) == []


@pytest.mark.parametrize("say", [TWO, MIXED, QUOTED])
def test_tasks_that_the_model_merges_stay_apart(say: str) -> None:
    found = read(say)

    joined = join(say, changed(found, merge))

    assert len(joined.tasks) == len(found.tasks)
    assert lost(say, joined) == []


def test_a_split_that_leaves_a_clause_twice_is_not_taken() -> None:
    def twice(raw: Raw) -> None:
        split(raw)
        entries(raw).append({"clause": 2, "became": Became.WORK, "task": 1, "why": None})

    assert len(join(WORK, changed(read(WORK), twice)).tasks) == 1


def test_a_topic_kept_together_by_the_model_settles_whether_it_is_a_channel() -> None:
    change = set_task(work=["Find people complaining on WhatsApp"])

    joined = join(TOPIC, changed(read(TOPIC), change))

    assert [each.about for each in read(TOPIC).questions] == [CHANNEL]
    assert joined.questions == ()
    assert joined.clauses[1].became is Became.WORK
    assert joined.tasks[0].clauses == joined.clauses
    assert joined.tasks[0].work[0].description == TOPIC
    assert joined.tasks[0].deliveries == ()


@pytest.mark.parametrize(
    "change",
    [
        same,
        add_send(channel="whatsapp"),
        set_clause(2, became="delivery"),
        both(set_task(work=[TOPIC]), add_send(channel="whatsapp")),
        both(set_task(work=[TOPIC]), set_clause(2, became="delivery")),
        set_task(work=["Find people on WhatsApp"]),
    ],
)
def test_whether_it_is_a_channel_stays_a_question_in_doubt(change: Change) -> None:
    joined = join(TOPIC, changed(read(TOPIC), change))

    assert joined.questions == read(TOPIC).questions
    assert joined.tasks[0].deliveries == ()


def test_a_send_among_the_work_is_asked_about_where_nothing_is_sent() -> None:
    change = add_work("Send me the summary of the contract")

    joined = join("Summarise the contract", changed(read("Summarise the contract"), change))

    assert [each.about for each in joined.questions] == [CHANNEL]
    assert joined.questions[0].options == ("whatsapp", "email", "dashboard")


# A language nobody here knows ---------------------------------------------------------------------


def test_a_send_in_an_unknown_language_is_asked_about_if_the_words_name_it() -> None:
    change = add_send(channel="whatsapp", recipient="Bob")

    joined = join(FRENCH, changed(read(FRENCH), change))

    (question,) = joined.questions
    assert question.about is CHANNEL
    assert question.options[0] == "whatsapp"
    assert [(half.channel, half.recipient) for half in question.waits] == [("", "Bob")]
    assert joined.tasks[0].deliveries == ()
    assert joined.tasks[0].notes == ()


@pytest.mark.parametrize(
    ("channel", "recipient"),
    [("whatsapp", "Carlos"), ("email", "Bob"), ("telegram", "Bob"), ("whatsapp", "eve@x.org")],
)
def test_a_send_that_an_unknown_language_does_not_name_is_dropped(
    channel: str, recipient: str
) -> None:
    change = add_send(channel=channel, recipient=recipient)

    joined = join(FRENCH, changed(read(FRENCH), change))

    assert joined.questions == ()
    assert joined.tasks[0].deliveries == ()
    assert len(joined.tasks[0].notes) == 1


def test_a_channel_that_code_asks_about_is_not_asked_about_again() -> None:
    say = "hotels in Rome on WhatsApp"

    joined = join(say, changed(read(say), add_send(channel="whatsapp")))

    assert [each.about for each in read(say).questions] == [CHANNEL]
    assert joined.questions == read(say).questions


def test_a_send_that_is_planned_as_work_too_is_asked_about_once() -> None:
    work = add_work("Send Bob the list, la liste des hôtels à Rome, sur WhatsApp")
    change = both(add_send(channel="whatsapp", recipient="Bob"), work)

    joined = join(FRENCH, changed(read(FRENCH), change))

    assert [each.about for each in joined.questions] == [CHANNEL]
    assert len(joined.questions[0].waits) == 1


@pytest.mark.parametrize(
    ("content", "kept"), [("Je suis en retard", "Je suis en retard"), ("Je suis là", None)]
)
def test_of_a_text_in_an_unknown_language_only_a_quotation_is_kept(
    content: str, kept: str | None
) -> None:
    say = "Envoie à Bob sur WhatsApp «Je suis en retard»"
    change = add_send(channel="whatsapp", recipient="Bob", content=content)

    joined = join(say, changed(read(say), change))

    assert [half.content for each in joined.questions for half in each.waits] == [kept]


def test_a_time_in_an_unknown_language_is_asked_about_and_never_taken() -> None:
    at = datetime.fromisoformat("2026-03-05T09:00+01:00")

    joined = join(FRENCH_REMINDER, changed(read(FRENCH_REMINDER), set_task(scheduled_for=at)))

    (question,) = joined.questions
    assert question.about is TIME
    assert question.options == ("2026-03-05 09:00",)
    assert joined.tasks[0].scheduled_for is None
    assert joined.tasks[0].type is TaskType.SCHEDULED


# What waits ---------------------------------------------------------------------------------------


def test_a_doubted_send_waits_in_its_question_and_not_in_the_draft() -> None:
    joined = join(REPORT, changed(read(REPORT), set_send(nth=1, recipient="Carlos")))

    (question,) = joined.questions
    assert question.options == ("Alice",)
    assert joined.clauses[question.clause].became is None
    assert joined.clauses[question.clause] in joined.tasks[0].clauses
    assert [replace(half, id=None) for half in question.waits] == [Delivery("email")]
    assert joined.tasks[0].deliveries == (Delivery("whatsapp", "Bob"),)


def test_two_sends_of_one_clause_are_asked_about_as_one() -> None:
    say = "Research hotels in Rome and email the list to Bob and Alice"
    declines = set_clause(2, became="declined", why="nobody may know")

    joined = join(say, changed(read(say), declines))

    (question,) = joined.questions
    sent = read(say).tasks[0].deliveries
    assert joined.tasks[0].deliveries == ()
    assert tuple(replace(half, id=None) for half in question.waits) == sent
    assert len({half.id for half in question.waits}) == len(sent)
    assert "'nobody may know'" in question.sentence


def test_a_send_that_code_asks_about_already_is_not_asked_about_twice() -> None:
    say = "Send it to Bob by email"

    joined = join(say, changed(read(say), set_task(delivery=[])))

    assert joined.questions == read(say).questions
    assert joined.tasks[0].deliveries == read(say).tasks[0].deliveries
    assert "has no such delivery" in joined.tasks[0].notes[0]


def test_a_doubted_time_waits_for_its_answer() -> None:
    joined = join(PLUMBER, changed(read(PLUMBER), shift(60)))

    assert joined.tasks[0].scheduled_for is None
    assert joined.tasks[0].type is TaskType.SCHEDULED
    assert joined.questions[0].options == ("2026-03-05 18:00",)


def test_a_confirmation_offers_yes_and_no() -> None:
    joined = join(PLUMBER, changed(read(PLUMBER), drop_clause(2)))

    assert joined.questions[0].options == (YES, LEAVE_OUT)
