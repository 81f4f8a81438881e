"""One task in each interesting state, as the golden files show them."""

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from remit.model.contract import (
    Clause,
    ClauseOutcome,
    Contract,
    ContractType,
    Criterion,
    Finding,
    GeneratedFrom,
    ItemStatus,
    OwnerRequest,
    RankingRule,
    Result,
    Timing,
    Verdict,
    WorkItem,
)
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import DeliveryId, SeriesId, SessionId, TaskId
from remit.model.status import Reason, Status
from remit.model.task import (
    Creator,
    Priority,
    Source,
    SourceKind,
    Taint,
    Task,
    TaskBudget,
    TaskType,
)

AT = datetime(2026, 2, 22, 15, 30, tzinfo=UTC)
WORDS = "Research the best beaches in Bali for families. Send me the list on WhatsApp."
RESEARCH = "Research best beaches in Bali for families"
LIST = "Sanur, Nusa Dua and Jimbaran are calm and shallow."

NEW = Task(
    id=TaskId("task-01KJ3A9QZ0V5T3K2M1P9RA8WZ0"),
    type=TaskType.IMMEDIATE,
    source=Source(SourceKind.CONVERSATION, "conv-7:12"),
    title="Research Bali beaches",
    instructions="Find the best beaches in Bali for families with small children.",
    created_at=AT,
    last_updated=AT,
    created_by=Creator.USER,
    session_id=SessionId("ses-01KJ3A9QZ0V5T3K2M1P9RA8WZ1"),
    request=OwnerRequest(
        WORDS,
        (
            Clause(WORDS[:47], 0, 47, ClauseOutcome.WORK),
            Clause(WORDS[48:], 48, 77, ClauseOutcome.DELIVERY),
        ),
    ),
    work=(WorkItem(RESEARCH),),
    delivery=(Delivery("whatsapp", id=DeliveryId("dlv-01KJ3A9QZ0V5T3K2M1P9RA8WZ2")),),
    context={"person": "Hanan", "threads": []},
    budget=TaskBudget(tokens=50_000, cents=200),
)

SCHEDULED = Task(
    id=TaskId("task-01KJ3A9QZ0V5T3K2M1P9RA8WZ3"),
    type=TaskType.SCHEDULED,
    source=Source(SourceKind.CALDAV, "reminders-1/2026-02-22T15:32:00Z"),
    title="Send WhatsApp reminder",
    instructions="Send a WhatsApp message with the exact text provided.",
    status=Status.READY,
    created_at=AT,
    last_updated=AT + timedelta(milliseconds=12),
    created_by=Creator.SCHEDULER,
    session_id=SessionId("ses-01KJ3A9QZ0V5T3K2M1P9RA8WZ4"),
    series_id=SeriesId("reminders-1"),
    slot=AT + timedelta(minutes=2),
    scheduled_for=AT + timedelta(minutes=2),
    delivery=(
        Delivery(
            "whatsapp",
            content="Don't forget to call mom",
            id=DeliveryId("dlv-01KJ3A9QZ0V5T3K2M1P9RA8WZ5"),
        ),
    ),
    priority=Priority.HIGH,
    rule=RankingRule("calendar", "source is caldav"),
)

RUNNING = replace(
    NEW,
    status=Status.RUNNING,
    work=(WorkItem(RESEARCH, ItemStatus.COMPLETED), WorkItem("Write the list")),
    rule=RankingRule("default", "no other rule matched"),
    taint=Taint.PUBLIC,
    started_at=AT + timedelta(seconds=1),
    last_updated=AT + timedelta(seconds=9),
    spent=TaskBudget(1_200, 3),
    lease=1,
)

NEEDS_REVIEW = replace(
    RUNNING,
    status=Status.NEEDS_REVIEW,
    reason=Reason.DELIVERABLE,
    resume_to=Status.DELIVERING,
    work=(WorkItem(RESEARCH, ItemStatus.COMPLETED),),
    tool_output="I looked at twelve beaches.\n<deliverable></deliverable>",
    last_updated=AT + timedelta(seconds=30),
)

COMPLETED = replace(
    RUNNING,
    status=Status.COMPLETED,
    work=(WorkItem(RESEARCH, ItemStatus.COMPLETED),),
    delivery=(
        replace(
            NEW.delivery[0],
            status=DeliveryStatus.SENT,
            body=LIST,
            receipt="wamid.HBgL",
            sent_at=AT + timedelta(seconds=41),
        ),
    ),
    contract=Contract(
        ContractType.VERIFIABLE,
        (
            Criterion("sources", "At least two distinct sources were read", "2"),
            Criterion("length", "It fits one WhatsApp message"),
            Criterion("e2e", "The links open", timing=Timing.DEFERRED),
        ),
        GeneratedFrom.AUTO,
        AT + timedelta(seconds=1),
    ),
    verdict=Verdict(
        (
            Finding("sources", Result.PASS),
            Finding("length", Result.PASS, attempts=2),
            Finding("e2e", Result.SKIPPED, "runs when its group ends"),
        ),
        AT + timedelta(seconds=40),
    ),
    tool_output=f"I looked at twelve beaches.\n<deliverable>{LIST}</deliverable>",
    result_summary=LIST,
    assigned_agent="researcher",
    completed_at=AT + timedelta(seconds=41),
    last_updated=AT + timedelta(seconds=41),
)

FAILED = replace(
    RUNNING,
    status=Status.FAILED,
    work=(WorkItem(RESEARCH, ItemStatus.FAILED),),
    delivery=(
        replace(
            NEW.delivery[0],
            status=DeliveryStatus.REFUSED,
            body=LIST,
            reason="131026: the recipient cannot be reached",
        ),
    ),
    contract=Contract(ContractType.ADVISORY, generated_from=GeneratedFrom.USER),
    verdict=Verdict((Finding("sources", Result.FAIL, "1 of 2 sources", 3),)),
    result_summary="1 of 1 refused (whatsapp: 131026: the recipient cannot be reached); 0 sent.",
    completed_at=AT + timedelta(seconds=50),
    last_updated=AT + timedelta(seconds=50),
)

CANCELLED = replace(
    RUNNING,
    status=Status.CANCELLED,
    cancel_requested=True,
    retry_of=FAILED.id,
    id=TaskId("task-01KJ3A9QZ0V5T3K2M1P9RA8WZ6"),
    completed_at=AT + timedelta(seconds=20),
    last_updated=AT + timedelta(seconds=20),
)

PAUSED = replace(
    SCHEDULED, status=Status.PAUSED, resume_to=Status.READY, last_updated=AT + timedelta(seconds=5)
)

DELETED = replace(COMPLETED, deleted_at=AT + timedelta(days=1), last_updated=AT + timedelta(days=1))

EXAMPLES = {
    "new": NEW,
    "scheduled": SCHEDULED,
    "running": RUNNING,
    "needs_review": NEEDS_REVIEW,
    "completed": COMPLETED,
    "failed": FAILED,
    "cancelled": CANCELLED,
    "paused": PAUSED,
    "deleted": DELETED,
}
