"""Every labelled message, and any plan at all: nothing is lost, nothing is invented."""

from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.intake.compare import compare
from remit.intake.extract import Extraction
from remit.intake.proposed import Mapped, Proposal, ProposedSend, ProposedTask
from remit.intake.recipients import About
from remit.model.delivery import Delivery
from remit.model.plan import Became
from tests.intake.changes import (
    Change,
    Raw,
    add_send,
    both,
    changed,
    drop_clause,
    set_clause,
    set_send,
    set_task,
    shift,
    task,
)
from tests.intake.labelled import BOOK, Message, messages
from tests.intake.proposals import faithful, lost

# Every labelled message ---------------------------------------------------------------------------

ALL = [message for half in ("tuned", "held_out") for message in messages(half)]
ASKING = [message for message in ALL if message.read().tasks]


@pytest.mark.parametrize("message", ALL, ids=lambda message: message.say[:40])
def test_a_faithful_plan_of_any_message_changes_nothing(message: Message) -> None:
    found = message.read()

    joined = compare(message.say, found, faithful(found), zone=message.zone, book=BOOK)

    assert joined == found


def mutations(found: Extraction) -> list[tuple[str, Change]]:
    """Every way to be unfaithful in one place."""
    made: list[tuple[str, Change]] = [("empty", lambda raw: raw.update(tasks=[], clauses=[]))]
    for n, draft in enumerate(found.tasks):
        made.append((f"adds a send to {n}", add_send(n, channel="email", recipient="Carlos")))
        for nth, delivery in enumerate(draft.deliveries):
            made.append((f"drops send {n}.{nth}", _without(n, "delivery", nth)))
            other = "Bob" if delivery.recipient != "Bob" else "Alice"
            made.append((f"recipient {n}.{nth}", set_send(n, nth, recipient=other)))
            by = "email" if delivery.channel != "email" else "whatsapp"
            made.append((f"channel {n}.{nth}", set_send(n, nth, channel=by)))
            if delivery.content:
                made.append((f"text {n}.{nth}", set_send(n, nth, content=delivery.content[:-1])))
                made.append((f"no text {n}.{nth}", set_send(n, nth, content=None)))
        if draft.scheduled_for:
            made.append((f"no time {n}", set_task(n, scheduled_for=None, recurrence=None)))
            made.append((f"late {n}", shift(1, n)))
        made += [(f"no item {n}.{at}", _without(n, "work", at)) for at in range(len(draft.work))]
        made.append((f"no words {n}", set_task(n, title="x", instructions="x", work=[])))
    for at in range(1, len(found.clauses) + 1):
        made.append((f"unmapped {at}", drop_clause(at)))
        made.append((f"declined {at}", set_clause(at, became="declined")))
        made.append((f"nowhere {at}", set_clause(at, task=12)))
    return made


def _without(number: int, key: str, nth: int) -> Change:
    def change(raw: Raw) -> None:
        cast("list[object]", task(raw, number)[key]).pop(nth)

    return change


@pytest.mark.parametrize("message", ASKING, ids=lambda message: message.say[:40])
def test_no_single_unfaithfulness_loses_anything(message: Message) -> None:
    found = message.read()
    for name, change in mutations(found):
        plan = changed(found, change)

        joined = compare(message.say, found, plan, zone=message.zone, book=BOOK)

        assert lost_of(message, joined) == [], name
        assert not invented(found, joined), name
        assert not asked_twice(found, joined), name


def lost_of(message: Message, joined: Extraction) -> list[str]:
    return lost(message.say, joined, message)


def asked_twice(found: Extraction, joined: Extraction) -> list[tuple[int, About]]:
    """What the model made code ask, though about that thing of that clause it was asked already."""
    every = [(each.clause, each.about) for each in joined.questions]
    new = {(each.clause, each.about) for each in joined.questions if each not in found.questions}
    return [key for key in new if every.count(key) > 1]


def invented(found: Extraction, joined: Extraction) -> list[Delivery]:
    """Sends that code did not read."""
    known = [each for draft in found.tasks for each in draft.deliveries]
    return [each for draft in joined.tasks for each in draft.deliveries if each not in known]


# Anything at all ----------------------------------------------------------------------------------

texts = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["Bob", "Alice", "whatsapp", "email", "send it", "", "no", "9"]),
)
proposed_sends = st.builds(
    ProposedSend, channel=texts, recipient=st.none() | texts, content=st.none() | texts
)
proposed_tasks = st.builds(
    ProposedTask,
    title=texts,
    instructions=texts,
    work=st.lists(texts, max_size=3).map(tuple),
    delivery=st.lists(proposed_sends, max_size=3).map(tuple),
    scheduled_for=st.none() | st.datetimes(),
    recurrence=st.none() | texts,
)
proposals = st.builds(
    Proposal,
    tasks=st.lists(proposed_tasks, max_size=3).map(tuple),
    clauses=st.lists(
        st.builds(
            Mapped,
            clause=st.integers(1, 8),
            became=st.sampled_from(Became),
            task=st.none() | st.integers(1, 4),
            why=st.none() | texts,
        ),
        max_size=10,
    ).map(tuple),
    answer=st.none(),
)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(ALL), proposals)
def test_whatever_a_model_says_nothing_is_lost_and_nothing_is_invented(
    message: Message, plan: Proposal
) -> None:
    found = message.read()

    joined = compare(message.say, found, plan, zone=message.zone, book=BOOK)

    assert lost_of(message, joined) == []
    assert invented(found, joined) == []
    assert asked_twice(found, joined) == []
    assert all(question in joined.questions for question in found.questions)


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(ASKING), st.data())
def test_two_unfaithfulnesses_at_once_lose_nothing_either(
    message: Message, data: st.DataObject
) -> None:
    found = message.read()
    names = mutations(found)[1:]
    (_, one), (_, other) = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(names))
    try:
        plan = changed(found, both(one, other))
    except (IndexError, TypeError):
        return  # the first took away what the second would change

    joined = compare(message.say, found, plan, zone=message.zone, book=BOOK)

    assert lost_of(message, joined) == []
    assert invented(found, joined) == []
    assert asked_twice(found, joined) == []
