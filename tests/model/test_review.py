"""What the owner may answer to which question, and what a question is about."""

from datetime import UTC, datetime

from msgspec.structs import replace

from remit.model.codec import text_of, to_json
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import DeliveryId, TaskId
from remit.model.permit import Permission
from remit.model.review import (
    NEEDS_TEXT,
    OPTIONS,
    Review,
    ReviewAnswer,
    SendTarget,
    place_of,
    rule_of,
)
from remit.model.status import Reason, Status
from tests.sample_task import sample_task
from tests.tables import for_each


@for_each("reason", Reason)
def test_every_question_offers_its_answers_and_always_a_no(reason: Reason) -> None:
    review = Review(
        task_id=TaskId("task-1"),
        key="gate",
        reason=reason,
        question="What now?",
        resume_to=Status.RUNNING,
    )

    assert review.options == OPTIONS[reason]
    assert review.options[-1] is ReviewAnswer.DECLINE
    assert len(set(review.options)) == len(review.options) > 1


def test_a_doubtful_send_is_settled_by_what_happened_not_by_a_plain_yes() -> None:
    settled = {ReviewAnswer.ARRIVED, ReviewAnswer.RESEND, ReviewAnswer.DROP, ReviewAnswer.DECLINE}

    assert set(OPTIONS[Reason.AMBIGUOUS]) == settled
    for reason in set(Reason) - {Reason.AMBIGUOUS}:
        assert not {ReviewAnswer.ARRIVED, ReviewAnswer.RESEND, ReviewAnswer.DROP} & set(
            OPTIONS[reason]
        )


def test_a_held_deliverable_is_never_sent_as_it_is() -> None:
    assert ReviewAnswer.APPROVE not in OPTIONS[Reason.DELIVERABLE]
    assert ReviewAnswer.EDIT in OPTIONS[Reason.DELIVERABLE]


def test_an_edit_an_answer_and_a_word_back_need_a_text() -> None:
    assert {ReviewAnswer.EDIT, ReviewAnswer.ANSWER, ReviewAnswer.BACK} == NEEDS_TEXT


AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
SENT = Delivery("outbox", "Ana", status=DeliveryStatus.SENT, id=DeliveryId("dlv-1"))
WAITS = Delivery("email", "Bob", id=DeliveryId("dlv-2"), address="bob@example.org")
TASK = sample_task("Write to Bob", AT, delivery=(SENT, WAITS))


def asks(reason: Reason = Reason.APPROVAL, **more: object) -> Review:
    plain = Review(
        task_id=TASK.id, key="0:x", reason=reason, question="?", resume_to=Status.RUNNING
    )
    return replace(plain, **more)


@for_each("reason", Reason)
def test_every_reason_has_a_rule_that_says_why(reason: Reason) -> None:
    assert rule_of(asks(reason)).says.endswith(".")


@for_each(
    ("about", "name"),
    [
        ("send:{}", "send-to-person"),
        ("call:1", "use-a-tool"),
        ("budget:day", "budget"),
        (None, "approval"),
    ],
)
def test_what_an_approval_is_about_names_its_rule(about: str | None, name: str) -> None:
    assert rule_of(asks(about=about)).name == name
    assert rule_of(asks(Reason.INPUT, about=about)).name == "question"


def test_a_message_goes_to_whom_the_owner_was_shown() -> None:
    to = Permission("Anna Weber", "whatsapp", "+49151")
    asked = asks(about="send:" + text_of(to_json(to)))

    assert place_of(asked, TASK) == SendTarget("whatsapp", "Anna Weber", "+49151")


@for_each(
    ("more", "place"),
    [
        ({"about": "dlv-1"}, SendTarget("outbox", "Ana")),
        ({"key": "0:held:dlv-2:0"}, SendTarget("email", "Bob", "bob@example.org")),
        ({"resume_to": Status.DELIVERING}, SendTarget("email", "Bob", "bob@example.org")),
        ({}, None),
    ],
)
def test_a_question_about_a_delivery_says_where_that_goes(
    more: dict[str, object], place: SendTarget | None
) -> None:
    assert place_of(asks(Reason.DELIVERABLE, **more), TASK) == place


def test_where_nothing_is_left_to_send_nothing_goes_anywhere() -> None:
    done = replace(TASK, delivery=(SENT,))

    assert place_of(asks(resume_to=Status.DELIVERING), done) is None
