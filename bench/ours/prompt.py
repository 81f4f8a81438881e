"""Prompts: how long it takes to put a task into words, for a plain task and for the 100th run."""

from datetime import UTC, datetime
from pathlib import Path

from bench.measure import Measurement, Stopwatch, read_peak_bytes
from remit.brain import prompt
from remit.brain.prompt import PromptContext
from remit.channels.registry import DashboardChannel
from remit.model.contract import Contract, ContractType, Criterion, Plan, WorkItem
from remit.model.delivery import Delivery
from remit.model.ids import SessionId, TaskId
from remit.model.reply import Memory, Snippet
from remit.model.task import Creator, Source, SourceKind, Taint, Task, TaskType

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
TOLD = PromptContext(
    "You are Remit, and you work for your owner.",
    "Be brief.\n" * 20,
    (DashboardChannel().guidance,),
)
TASK = Task(
    id=TaskId("task-1"),
    type=TaskType.IMMEDIATE,
    source=Source(SourceKind.MANUAL, "1"),
    title="Beaches",
    instructions="Find three calm beaches for families, with prices. " * 5,
    created_at=NOW,
    last_updated=NOW,
    created_by=Creator.USER,
    session_id=SessionId("ses-1"),
)
PLAN = Plan(
    tuple(WorkItem(f"Look at beach {n}") for n in range(5)),
    (Delivery("dashboard"),),
    Contract(ContractType.VERIFIABLE, (Criterion("mentions", "names it", "Sanur"),)),
)
# As much as a long series remembers, all of it from others and so to be marked.
LONG = Memory(
    tuple(
        Snippet(f"task-{n}", "Beaches", "Sanur is <calm>. " * 120, Taint.PUBLIC) for n in range(3)
    ),
    summary="It was calm on most days. " * 300,
    facts=("Not Kuta.",) * 20,
    reported=("1 March: Sanur, Canggu and Nusa Dua. ",) * 50,
    taint=Taint.PUBLIC,
)


def run(size: int, home: Path) -> list[Measurement]:
    del home
    return [_built("a plain task", Memory(), size), _built("run 100 of a series", LONG, size)]


def _built(name: str, memory: Memory, size: int) -> Measurement:
    watch, told = Stopwatch(), ""
    with watch:
        for _ in range(size):
            told = prompt.render(TASK, PLAN, memory, TOLD, NOW).whole
    return Measurement(
        name,
        watch.wall_seconds / size * 1e6,
        "µs",
        size,
        watch.wall_seconds,
        watch.cpu_seconds,
        read_peak_bytes(),
        better="less",
        facts={"characters": len(told)},
    )
