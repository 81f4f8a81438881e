"""What a question is about: the rule that asks, where it would go."""

from datetime import UTC, datetime

from msgspec.structs import replace

from remit.model.codec import text_of, to_json
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import DeliveryId
from remit.model.permit import Permission
from remit.model.review import Review, SendTarget, place_of, rule_of
from remit.model.status import Reason, Status
from tests.sample_task import sample_task
from tests.tables import for_each

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
