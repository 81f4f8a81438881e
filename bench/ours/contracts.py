"""Contracts: how long it takes to say what would prove a task done, for few files and for many."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench.measure import Measurement, Stopwatch, read_peak_bytes, require_count, take_percentile
from remit.model.contract import ContractType
from remit.plan.activities import default_activities
from remit.plan.contract import ContractRequest, draft_contract, reclassify

NOW: Final = datetime(2026, 2, 28, 10, tzinfo=UTC)
WORDS: Final = (
    "Add dark mode toggle to settings page",
    "Investigate why checkout API is slow",
    "Fix typo in README",
    "Research the slow queries and add the missing indexes",
    "Tippfehler in der Anleitung korrigieren",
)
ENDINGS: Final = ("py", "tsx", "md", "go", "json", "rs", "sql")
ROUNDS: Final = 7


def run(size: int, home: Path) -> list[Measurement]:
    """`size` files; the target is 50 ms for 5,000 of them."""
    del home
    rules = default_activities()
    many = tuple(f"src/part{n % 97}/module{n}.{ENDINGS[n % len(ENDINGS)]}" for n in range(size))
    diff = "".join(_hunk(path) for path in many)
    before = draft_contract(ContractRequest(WORDS[1]), rules, NOW).contract
    after = reclassify(before, diff, many, rules, NOW)
    require_count("verifiable", int(after.type is ContractType.VERIFIABLE), 1)
    return [
        _timed(
            "words alone",
            lambda n: draft_contract(ContractRequest(WORDS[n % len(WORDS)]), rules, NOW),
        ),
        _timed(
            f"{size:,} files", lambda _: draft_contract(ContractRequest(WORDS[0], many), rules, NOW)
        ),
        _timed(
            f"{size:,} files and their diff", lambda _: reclassify(before, diff, many, rules, NOW)
        ),
    ]


def _hunk(path: str) -> str:
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"
    return f"{head}@@ -1,3 +1,3 @@\n same\n-old = 1\n+new = compute(old)\n same\n"


def _timed(name: str, work: Callable[[int], object]) -> Measurement:
    work(0)
    spans: list[float] = []
    watch = Stopwatch()
    for n in range(ROUNDS):
        before = watch.wall_seconds
        with watch:
            work(n)
        spans.append((watch.wall_seconds - before) * 1000)
    return Measurement(
        name,
        take_percentile(spans, 50),
        "ms",
        ROUNDS,
        watch.wall_seconds,
        watch.cpu_seconds,
        read_peak_bytes(),
        better="less",
        facts={"CPU ms each": round(watch.cpu_seconds / ROUNDS * 1000, 1)},
    )
