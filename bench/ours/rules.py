"""Priority rules: how fast a file of 1,000 is read, and how many tasks it ranks in a second."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from bench.measure import Measurement, Stopwatch, read_peak_bytes, require_count, take_percentile
from remit.model.ids import SessionId, TaskId
from remit.model.task import Creator, Source, SourceKind, Task, TaskType
from remit.plan.priority import PriorityRules, default_rules, load_rules

RULES: Final = 1000
ROUNDS: Final = 7
NOW: Final = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def run(size: int, home: Path) -> list[Measurement]:
    """`size` tasks; a fifth of the rules each by title, context, sender, several and text."""
    del home
    text = "version: 1\nrules:\n" + "".join(_rule(n) for n in range(RULES))
    rules, loading = _loaded(text)
    require_count("rules", len(rules.rules), RULES)
    tasks = [_task(n) for n in range(size)]
    return [
        loading,
        _ranked("tasks ranked by 1,000 rules", rules, tasks, size // 5),
        _ranked("tasks ranked by the rules that come with Remit", default_rules(), tasks, size),
    ]


def titled(n: int) -> str:
    return f"Please pay invoice number {n} of the power company"


def _rule(n: int) -> str:
    when = (
        f"objective matches /invoice number {n}\\b/i",
        f"context.person is Person {n}",
        f"{{all: [source is email, sender_domain is shop{n}.example]}}",
        f"{{any: [objective matches /report.*{n}.*urgent/, context.topic matches /^no {n}$/i]}}",
        f"{{all: [weekday in mon-fri, instructions matches /deadline (is|was) {n}/]}}",
    )[n % 5]
    return f"  - name: rule {n}\n    when: {when}\n    priority: high\n    because: number {n}\n"


def _task(n: int) -> Task:
    return Task(
        id=TaskId(f"task-{n}"),
        type=TaskType.IMMEDIATE,
        source=Source(SourceKind.EMAIL, str(n)),
        title=titled(n % RULES),
        instructions="It is for the flat in the old town; the deadline is near. " * 10,
        created_at=NOW,
        last_updated=NOW,
        created_by=Creator.USER,
        session_id=SessionId("ses-1"),
        context={"person": "Nobody", "sender": "a@b.example", "sender_verified": True},
    )


def _loaded(text: str) -> tuple[PriorityRules, Measurement]:
    spans: list[float] = []
    watch, rules = Stopwatch(), load_rules(text, "priority.yml")
    for _ in range(ROUNDS):
        before = watch.wall_seconds
        with watch:
            rules = load_rules(text, "priority.yml")
        spans.append((watch.wall_seconds - before) * 1000)
    return rules, Measurement(
        "1,000 rules loaded",
        take_percentile(spans, 50),
        "ms",
        ROUNDS,
        watch.wall_seconds,
        watch.cpu_seconds,
        read_peak_bytes(),
        better="less",
        facts={"characters": len(text)},
    )


def _ranked(name: str, rules: PriorityRules, tasks: list[Task], least: int) -> Measurement:
    watch, found = Stopwatch(), 0
    fresh = list(_fresh(tasks))
    with watch:
        for task in fresh:
            found += rules.find(task, UTC).rule is not None
    require_count("ranked by a rule", min(found, least), least)
    rate = len(fresh) / watch.wall_seconds
    return Measurement(
        name, rate, "/s", len(fresh), watch.wall_seconds, watch.cpu_seconds, read_peak_bytes()
    )


def _fresh(tasks: list[Task]) -> Iterator[Task]:
    """The same again, so that nothing is remembered of them."""
    return (replace(task) for task in tasks)
