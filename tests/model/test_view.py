"""The two published views: what they show, in which words, and that the seeds find their own."""

import json
import os
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from remit.model.codec import Json, JsonMap, moment
from remit.model.contract import WorkItem
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import TaskId
from remit.model.status import Reason, Status
from remit.model.task import Priority, Source, SourceKind, Task
from remit.model.view import JsonView, delivery_status, s3_status, s4_status, show
from tests.model.examples import COMPLETED, EXAMPLES, NEEDS_REVIEW, NEW
from tests.model.lifecycle_checks import task_in
from tests.model.values import values
from tests.soak import examples
from tests.tables import for_each

GOLDEN = Path(__file__).parent / "golden"
REWRITE = os.environ.get("REMIT_WRITE_GOLDEN") == "1"

# S3's interface Task and S0's changes to it, name by name.
S3_NAMES = (
    "id type sourceType sourceRef title instructions status sessionId recurrenceId occurrenceDate"
    " created scheduledFor startedAt completedAt createdBy logPath work delivery"
)
S0_ITEM = {"description", "status"}
S0_ACTION = {"channel", "recipient", "content", "status"}
S0_TASK = {"title", "instructions", "work", "delivery", "type", "scheduledFor"}
# What the engine keeps to itself.
INNER = {
    "files",  # they have a route of their own
    "pending_reading",
    "gaps",
    "repeats",
    "resume_to",
    "notes",
    "pause_requested",
    "round",
    "lease",
    "attempts",
    "crashes",
    "seen_at",  # about the owner, not about the task
}
RENAMED = {"source", "series_id", "slot", "contract", "verdict", "rule", "created_at"}


@pytest.mark.parametrize("view", JsonView)
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_task_is_shown_to_the_byte_as_the_golden_file_has_it(name: str, view: JsonView) -> None:
    shown = json.dumps(show(EXAMPLES[name], view), indent=2, ensure_ascii=False) + "\n"
    golden = GOLDEN / f"{name}.{view}.json"
    if REWRITE:
        golden.write_text(shown, encoding="utf-8")

    assert golden.read_bytes() == shown.encode()


def test_there_is_no_golden_file_without_a_task() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {
        f"{name}.{view}.json" for name in EXAMPLES for view in JsonView
    }


def test_everything_a_task_has_is_shown_but_what_the_engine_keeps_to_itself() -> None:
    has = set(Task.__struct_fields__) - INNER - RENAMED

    assert {_camel(name) for name in has} <= show(NEW, JsonView.S3).keys()


def test_the_fields_of_s3_and_s0_are_there_by_their_names() -> None:
    shown = show(COMPLETED, JsonView.S3)

    assert set(S3_NAMES.split()) | S0_TASK <= shown.keys()
    assert _first(shown["work"]).keys() == S0_ITEM
    assert _first(shown["delivery"]).keys() >= S0_ACTION


def test_the_example_of_s4_comes_out_as_s4_wrote_it() -> None:
    task = replace(
        NEW,
        id=TaskId("task-01JYDF5S20V5T3K2M1P9RA8WZ0"),
        source=Source(SourceKind.EMAIL, "<gmail_msg_id>"),
        title="Schedule 30-min catch-up with Dr. Smith",
        context={
            "person": "Dr. Anna Smith",
            "threads": ["<msg1>", "<msg2>"],
            "meeting_duration": "30m",
        },
        priority=Priority.HIGH,
        work=(WorkItem("propose_time_slots"), WorkItem("send_calendar_invite")),
        assigned_agent="ToolingAgent",
        created_at=moment("2025-06-23T03:15:00Z"),
        last_updated=moment("2025-06-23T03:16:10Z"),
    )

    assert show(task, JsonView.S4) == {
        "task_id": "01JYDF5S20V5T3K2M1P9RA8WZ0",
        "created_at": "2025-06-23T03:15:00.000Z",
        "source": "email:<gmail_msg_id>",
        "objective": "Schedule 30-min catch-up with Dr. Smith",
        "context": {
            "person": "Dr. Anna Smith",
            "threads": ["<msg1>", "<msg2>"],
            "meeting_duration": "30m",
        },
        "priority": "high",
        "status": "NEW",
        "subtasks": [
            {"step": "propose_time_slots", "done": False},
            {"step": "send_calendar_invite", "done": False},
        ],
        "assigned_agent": "ToolingAgent",
        "last_updated": "2025-06-23T03:16:10.000Z",
        "tool_output": None,
        "result_summary": None,
        "cancel_reason": None,  # ours: S4 has no word for failed
    }


@for_each(
    ("status", "s3", "s4"),
    [
        (Status.NEW, "pending", "NEW"),
        (Status.READY, "pending", "READY"),
        (Status.RUNNING, "running", "IN_PROGRESS"),
        (Status.VERIFYING, "running", "IN_PROGRESS"),
        (Status.DELIVERING, "running", "IN_PROGRESS"),
        (Status.NEEDS_REVIEW, "needs_review", "WAITING_HITL"),
        (Status.PAUSED, "paused", "WAITING_HITL"),
        (Status.COMPLETED, "completed", "DONE"),
        (Status.FAILED, "failed", "CANCELLED"),
        (Status.CANCELLED, "deleted", "CANCELLED"),
    ],
)
def test_each_status_has_the_word_the_specification_gives_it(
    status: Status, s3: str, s4: str
) -> None:
    task = task_in(status)

    assert (s3_status(task), s4_status(task)) == (s3, s4)


@for_each(
    ("resume_to", "word"),
    [
        (Status.NEW, "NEW"),
        (Status.READY, "READY"),
        (Status.RUNNING, "WAITING_HITL"),
        (Status.VERIFYING, "WAITING_HITL"),
        (Status.DELIVERING, "WAITING_HITL"),
    ],
)
def test_a_pause_shows_in_s4_as_where_it_was_unless_the_work_had_begun(
    resume_to: Status, word: str
) -> None:
    paused = task_in(Status.PAUSED, resume_to)

    assert (s3_status(paused), s4_status(paused)) == ("paused", word)


@for_each(
    ("status", "word"),
    [
        (DeliveryStatus.PENDING, "pending"),
        (DeliveryStatus.SENDING, "pending"),
        (DeliveryStatus.SENT, "completed"),
        (DeliveryStatus.REFUSED, "failed"),
        (DeliveryStatus.UNKNOWN, "needs_review"),
    ],
)
def test_each_delivery_has_the_word_of_s0(status: DeliveryStatus, word: str) -> None:
    assert delivery_status(Delivery("email", status=status), NEW) == word


@for_each("reason", Reason)
def test_an_action_that_cannot_go_out_is_held_as_its_task_is(reason: Reason) -> None:
    held = {Reason.DELIVERABLE, Reason.APPROVAL, Reason.VERIFICATION}
    task = replace(NEEDS_REVIEW, reason=reason)

    word = delivery_status(Delivery("email"), task)

    assert word == ("needs_review" if reason in held else "pending")
    assert delivery_status(Delivery("email", status=DeliveryStatus.SENT), task) == "completed"


@settings(max_examples=examples(25))
@given(values(Task))
def test_any_task_can_be_shown_as_json(task: Task) -> None:
    for view in JsonView:
        assert json.loads(json.dumps(show(task, view))) == show(task, view)


def _first(shown: Json) -> JsonMap:
    return cast("list[JsonMap]", shown)[0]


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.title() for word in rest)
