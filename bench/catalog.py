"""What is measured: every subject of every table, by name; nothing is imported until it runs."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["ours", "limit", "peer"]


@dataclass(frozen=True, slots=True)
class Subject:
    """One row: `target` is `module:function`, called as `function(size, home)` in a fresh child."""

    name: str
    title: str
    table: str
    role: Role
    target: str
    size: int
    quick_size: int
    seconds: float = 300
    packages: tuple[str, ...] = ()


TABLES: dict[str, str] = {
    "as-shipped": "`remit up` as shipped: POST /api/tasks by 16 clients, until all are delivered",
    "throughput": "Insert + 4 durable transitions, an event each (WAL, synchronous=FULL)",
    "machines": "The whole way on Postgres and Temporal, beside four steps of others",
    "house": "The whole way: admitted, ranked, thought, gated, delivered, completed",
    "courier": "Messages by WhatsApp, accepted by a provider that answers at once",
    "letters": "Letters by e-mail, accepted by a server that answers at once",
    "waiting": "10,000 deliveries that wait, and 1,000 reports that settle doubts",
    "burst": "10,000 tasks due in one second",
    "scheduled": "100,000 scheduled tasks, idle, beside an empty store",
    "lateness": "1,000 slots due in one minute, and 500 series missed for three days",
    "in-flight": "1,000 tasks in flight, each awaiting 2 s",
    "million": "One million tasks in the store",
    "dashboard": "The list of 10,000 tasks in Chromium: a cold load, then 50 events/s on 20 rows",
    "sockets": "100 sockets that take nothing and 10 that listen, 50 events/s of 2 kB",
    "lists": "Lists and searches over one million tasks, through HTTP",
    "start-up": "CPU time of a fresh process",
    "calendar-sync": "A calendar on a real server: the first look at all of it, an idle look",
    "calendar": "A calendar becomes the slots of 30 days, beside the bare libraries",
    "gate": "What may leave is found in a reply, beside a regular expression",
    "reading": "A request understood without a model",
    "prompt": "A task put into words, for one thought",
    "contracts": "What would prove a task done, said before the work; the target is 50 ms",
    "rules": "A task ranked by 1,000 rules; the targets: 10,000 in a second, loaded in 1 s",
    "recall": "Tasks like one: 10,000 and 100,000 snippets kept and searched; what a probe finds",
    "verify": "A check of a repository of 1,000 files in the sandbox, beside the bare command",
    "continuity": "What a model is told at run 1, 10, 50, 100 of a daily series (characters / 4)",
}

SUBJECTS: tuple[Subject, ...] = (
    Subject(
        "as-shipped", "remit up", "as-shipped", "ours",
        "bench.ours.as_shipped:run", 3_000, 100,
    ),
    Subject(
        "no-recall", "remit up, recall off", "as-shipped", "ours",
        "bench.ours.as_shipped:run_without_recall", 3_000, 100,
    ),
    Subject(
        "langgraph-http", "LangGraph, AsyncSqliteSaver, Starlette", "as-shipped", "peer",
        "bench.peers.langgraph_peer:run_server", 1_000, 50,
        packages=("langgraph", "langgraph-checkpoint-sqlite"),
    ),
    Subject(
        "remit", "remit, the store's verbs", "throughput", "ours",
        "bench.ours.throughput:run", 10_000, 500,
    ),
    Subject(
        "raw", "raw SQLite, same statements", "throughput", "limit",
        "bench.peers.raw_sqlite:run", 10_000, 1_000,
    ),
    Subject(
        "raw-1", "raw SQLite, 1 a commit", "throughput", "peer",
        "bench.peers.raw_sqlite:run_singly", 1_000, 200,
    ),
    Subject(
        "huey", "huey, pipeline of 4", "throughput", "peer",
        "bench.peers.huey_peer:run", 1_000, 100, packages=("huey",),
    ),
    Subject(
        "langgraph", "LangGraph, AsyncSqliteSaver", "throughput", "peer",
        "bench.peers.langgraph_peer:run", 500, 50,
        packages=("langgraph", "langgraph-checkpoint-sqlite"),
    ),
    Subject(
        "dbos", "DBOS, 4 steps", "throughput", "peer",
        "bench.peers.dbos_peer:run", 500, 50, packages=("dbos", "sqlalchemy"),
    ),
    Subject(
        "workers-1", "remit, Postgres + Temporal, 1 worker", "machines", "ours",
        "bench.ours.machines:run_1", 300, 20, seconds=900,
    ),
    Subject(
        "workers-2", "remit, Postgres + Temporal, 2 workers", "machines", "ours",
        "bench.ours.machines:run_2", 300, 20, seconds=900,
    ),
    Subject(
        "workers-4", "remit, Postgres + Temporal, 4 workers", "machines", "ours",
        "bench.ours.machines:run_4", 300, 20, seconds=900,
    ),
    Subject(
        "temporal", "Temporal alone, 4 activities", "machines", "peer",
        "bench.peers.temporal_peer:run", 300, 20, seconds=600, packages=("temporalio",),
    ),
    Subject(
        "dbos-postgres", "DBOS on Postgres, 4 steps", "machines", "peer",
        "bench.peers.dbos_peer:run_postgres", 500, 20, packages=("dbos", "sqlalchemy"),
    ),
    Subject(
        "langgraph-postgres", "LangGraph, AsyncPostgresSaver", "machines", "peer",
        "bench.peers.langgraph_peer:run_postgres", 500, 20,
        packages=("langgraph", "langgraph-checkpoint-postgres"),
    ),
    Subject(
        "procrastinate", "procrastinate, 4 chained jobs", "machines", "peer",
        "bench.peers.procrastinate_peer:run", 500, 20, packages=("procrastinate",),
    ),
    Subject(
        "house", "remit, whole", "house", "ours",
        "bench.ours.throughput:run_app", 5_000, 300,
    ),
    Subject(
        "courier", "remit, whole", "courier", "ours",
        "bench.ours.courier:run_whatsapp", 2_000, 200,
    ),
    Subject(
        "bare-http", "a bare httpx2 loop", "courier", "limit",
        "bench.peers.bare_sends:run_http", 2_000, 200,
    ),
    Subject(
        "letters", "remit, whole", "letters", "ours",
        "bench.ours.courier:run_email", 1_000, 100,
    ),
    Subject(
        "bare-smtp", "a bare aiosmtplib loop", "letters", "limit",
        "bench.peers.bare_sends:run_smtp", 1_000, 100,
    ),
    Subject(
        "pending", "remit, pending", "waiting", "ours",
        "bench.ours.courier:run_pending", 10_000, 500,
    ),
    Subject(
        "reports", "remit, reports", "waiting", "ours",
        "bench.ours.courier:run_reports", 1_000, 100,
    ),
    Subject(
        "burst", "remit", "burst", "ours",
        "bench.ours.burst:run", 10_000, 1_000,
    ),
    Subject(
        "scheduled", "remit", "scheduled", "ours",
        "bench.ours.scheduled:run", 100_000, 5_000,
    ),
    Subject(
        "lateness", "remit, due within a minute", "lateness", "ours",
        "bench.ours.lateness:run_due", 1_000, 50,
    ),
    Subject(
        "catch-up", "remit, missed for three days", "lateness", "ours",
        "bench.ours.lateness:run_missed", 500, 50,
    ),
    Subject(
        "in-flight", "remit", "in-flight", "ours",
        "bench.ours.in_flight:run", 1_000, 100,
    ),
    Subject(
        "million", "remit", "million", "ours",
        "bench.ours.million:run", 1_000_000, 20_000, seconds=900,
    ),
    Subject(
        "dashboard", "remit, 100 rows", "dashboard", "ours",
        "bench.ours.dashboard:run", 10_000, 1_000,
    ),
    Subject(
        "budget", "the budget", "dashboard", "limit",
        "bench.peers.budget:run", 1, 1,
    ),
    Subject(
        "flower", "Flower, 15 rows", "dashboard", "peer",
        "bench.peers.flower_peer:run", 10_000, 1_000, packages=("flower", "celery"),
    ),
    Subject(
        "sockets", "remit, /ws", "sockets", "ours",
        "bench.ours.sockets:run", 100, 20,
    ),
    Subject(
        "lists", "remit", "lists", "ours",
        "bench.ours.dashboard:run_lists", 1_000_000, 20_000, seconds=900,
    ),
    Subject(
        "calendar", "remit", "calendar", "ours",
        "bench.ours.calendar:run", 10_000, 1_000,
    ),
    Subject(
        "calendar-sync", "remit, a calendar on Radicale", "calendar-sync", "ours",
        "bench.ours.calendar_sync:run", 1_000, 50,
    ),
    Subject(
        "bare-calendar", "icalendar + recurring-ical-events", "calendar", "peer",
        "bench.peers.bare_calendar:run", 10_000, 1_000,
    ),
    Subject(
        "gate", "remit", "gate", "ours",
        "bench.ours.gate:run", 2_000, 100,
    ),
    Subject(
        "gate-regex", "a regular expression", "gate", "peer",
        "bench.peers.seed_regex:run", 2_000, 100,
    ),
    Subject(
        "reading", "remit", "reading", "ours",
        "bench.ours.reading:run", 2_000, 100,
    ),
    Subject(
        "prompt", "remit", "prompt", "ours",
        "bench.ours.prompt:run", 5_000, 500,
    ),
    Subject(
        "contracts", "remit", "contracts", "ours",
        "bench.ours.contracts:run", 5_000, 500,
    ),
    Subject(
        "rules", "remit", "rules", "ours",
        "bench.ours.rules:run", 20_000, 1_000,
    ),
    Subject(
        "rules-loop", "the same with re, rule by rule", "rules", "peer",
        "bench.peers.bare_rules:run", 200, 20,
    ),
    Subject(
        "recall-probe", "60 questions in other words, 3 languages", "recall", "ours",
        "bench.ours.recall:probe", 132, 132,
    ),
    Subject(
        "recall-read", "static vectors in plain Python", "recall", "ours",
        "bench.ours.recall:read", 500, 50,
    ),
    Subject(
        "recall-10k", "remit, 10,000", "recall", "ours",
        "bench.ours.recall:memory", 10_000, 1_000,
    ),
    Subject(
        "recall-100k", "remit, 100,000", "recall", "ours",
        "bench.ours.recall:memory", 100_000, 1_000, seconds=900,
    ),
    Subject(
        "recall-edge", "Qdrant in the process, 100,000", "recall", "peer",
        "bench.ours.recall:edge", 100_000, 1_000, seconds=900, packages=("qdrant-edge-py",),
    ),
    Subject(
        "recall-client", "qdrant-client's local mode, 10,000", "recall", "peer",
        "bench.ours.recall:local", 10_000, 1_000, packages=("qdrant-client",),
    ),
    Subject(
        "verify", "remit, copied, in a sandbox", "verify", "ours",
        "bench.ours.verify:run", 20, 3,
    ),
    Subject(
        "bare-command", "the bare command", "verify", "limit",
        "bench.peers.bare_commands:run", 20, 3,
    ),
    Subject(
        "continuity", "remit", "continuity", "ours",
        "bench.ours.continuity:run", 100, 20,
    ),
    Subject(
        "start-up", "remit", "start-up", "ours",
        "bench.ours.startup:run", 5, 2,
    ),
    Subject(
        "import-python", "python, nothing imported", "start-up", "limit",
        "bench.peers.startup:run_python", 5, 2,
    ),
    Subject(
        "import-huey", "import huey", "start-up", "peer",
        "bench.peers.startup:run_huey", 5, 2, packages=("huey",),
    ),
    Subject(
        "import-dbos", "import dbos", "start-up", "peer",
        "bench.peers.startup:run_dbos", 5, 2, packages=("dbos",),
    ),
    Subject(
        "import-langgraph", "import langgraph.graph", "start-up", "peer",
        "bench.peers.startup:run_langgraph", 5, 2, packages=("langgraph",),
    ),
)  # fmt: skip


class UnknownSubject(Exception):
    """--only named something that is not in the catalogue."""

    def __init__(self, name: str) -> None:
        known = ", ".join(subject.name for subject in SUBJECTS)
        super().__init__(f"There is no subject {name!r}; choose from {known}.")


def choose_subjects(names: str | None) -> tuple[Subject, ...]:
    """All subjects, or those named (by subject or by table) in a comma-separated list."""
    if names is None:
        return SUBJECTS
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in TABLES and all(subject.name != name for subject in SUBJECTS):
            raise UnknownSubject(name)
    return tuple(s for s in SUBJECTS if s.name in wanted or s.table in wanted)
