"""What a model made code ask is settled by the owner: "yes" restores just what code had read."""

from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest

from remit.intake import hear
from remit.intake.extract import Extraction
from remit.intake.heard import Message
from remit.intake.settle import settle
from remit.model.delivery import Delivery
from remit.model.ids import Ids
from remit.model.plan import Became
from remit.model.review import Review
from remit.model.task import Source, SourceKind, Task
from tests.intake.changes import changed, set_clause, set_send, set_task
from tests.intake.labelled import BOOK, NOW, ZONE
from tests.intake.plans import ASKED, BALI, PLUMBER, REPORT, Asked
from tests.intake.proposals import join, read

MOST_ANSWERS = 20


def stored(say: str, found: Extraction) -> list[tuple[Task, list[Review]]]:
    """The tasks of a reading, with their reviews, as they would be stored."""
    ticks = count()
    ids = Ids(lambda: NOW + timedelta(seconds=next(ticks)), lambda bits: next(ticks) % 2**bits)
    message = Message(text=say, source=Source(SourceKind.MANUAL, "m"))
    found = hear.planned(found, None, BOOK.home)
    made = [
        hear._task(ledger, message, n, ids, NOW) for n, ledger in enumerate(hear.ledgers(found), 1)
    ]
    return [(task, list(hear.asking(task, ledger, ids))) for task, ledger in made]


def answered(task: Task, reviews: list[Review], answer: str) -> Task:
    """The task after the owner gave one answer to everything."""
    waiting = list(reviews)
    for _ in range(MOST_ANSWERS):
        if not waiting:
            break
        made = settle(task, waiting.pop(0), answer, now=NOW, zone=ZONE, book=BOOK)
        task = made.task
        waiting += [made.ask] if made.ask else []
        waiting = [each for each in waiting if each.key.rpartition(":")[0] not in made.moot]
    return task


def essence(task: Task) -> tuple[object, ...]:
    """What will be done, sent, and when; how a series was anchored is not part of it."""
    sent = {(each.channel, each.recipient, each.content) for each in task.delivery}
    rule = task.repeats.rule if task.repeats else None
    at = task.scheduled_for.replace(second=0) if task.scheduled_for else None
    return frozenset(sent), at, rule, task.type


@pytest.mark.parametrize("row", ASKED.values(), ids=ASKED)
def test_yes_restores_what_code_had_read(row: Asked) -> None:
    plain = [task for task, _ in stored(row.say, read(row.say))]

    joined = join(row.say, changed(read(row.say), row.change))
    settled = [answered(task, reviews, "yes") for task, reviews in stored(row.say, joined)]

    assert any(reviews for _, reviews in stored(row.say, joined))
    assert [essence(task) for task in settled] == [essence(task) for task in plain]
    assert all(task.gaps == () for task in settled)
    for before, after in zip(plain, settled, strict=True):
        assert {item.description for item in before.work} <= {
            item.description for item in after.work
        }


def test_a_send_that_is_left_out_goes_to_nobody() -> None:
    joined = join(REPORT, changed(read(REPORT), set_send(nth=1, recipient="Carlos")))
    ((task, reviews),) = stored(REPORT, joined)

    left = answered(task, reviews, "leave it out")

    assert [(each.channel, each.recipient) for each in left.delivery] == [("whatsapp", "Bob")]
    assert left.gaps == ()


def test_another_answer_counts_more_than_code_and_model() -> None:
    joined = join(REPORT, changed(read(REPORT), set_send(nth=1, recipient="Carlos")))
    ((task, reviews),) = stored(REPORT, joined)

    other = answered(task, reviews, "Jörg Meier")

    sent = {replace(each, id=None) for each in other.delivery}
    assert sent == {Delivery("whatsapp", "Bob"), Delivery("email", "Jörg Meier")}


def test_another_time_counts_more_than_code_and_model() -> None:
    joined = join(PLUMBER, changed(read(PLUMBER), set_task(scheduled_for=None)))
    ((task, reviews),) = stored(PLUMBER, joined)

    other = answered(task, reviews, "tomorrow at 19:30")

    assert other.scheduled_for is not None
    assert other.scheduled_for.astimezone(ZONE).isoformat() == "2026-03-05T19:30:00+01:00"


def test_a_limit_that_is_left_out_is_said_to_be() -> None:
    joined = join(PLUMBER, changed(read(PLUMBER), set_clause(2, became="declined")))
    ((task, reviews),) = stored(PLUMBER, joined)

    left = answered(task, reviews, "leave it out")

    assert left.request is not None
    assert left.request.clauses[1].became is Became.DECLINED
    assert [item.description for item in left.work] == ["Find a plumber in Kreuzberg"]


def test_until_it_is_settled_the_task_has_an_open_review() -> None:
    joined = join(BALI, changed(read(BALI), set_task(delivery=[])))

    ((task, reviews),) = stored(BALI, joined)

    assert len(reviews) == len(task.gaps) == 1
    assert task.delivery == ()
