"""Honest and dishonest work, taken through the owner's words, the contract, and its checks."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final, cast
from zoneinfo import ZoneInfo

from remit.contacts import ChannelName, Contact, ContactBook
from remit.intake.extract import extract
from remit.model.contract import (
    Clause,
    Criterion,
    Evidence,
    Finding,
    OwnerRequest,
    ReadSource,
    Result,
)
from remit.model.task import Task
from remit.plan.written import criteria
from remit.verify.written import CHECKS
from tests.sample_task import sample_task
from tests.tables import read_yaml

FOLDER: Final = Path(__file__).parent
NOW: Final = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
_ME: Final = ContactBook(
    Contact("me"),
    tuple(ChannelName(name, name, (name,)) for name in ("dashboard", "whatsapp", "email", "sms")),
)


@dataclass(frozen=True, slots=True)
class Case:
    id: str
    ask: str
    answer: str
    read: tuple[ReadSource, ...] = ()
    channels: tuple[str, ...] = ()
    by: str = ""  # the check that must catch it
    open: bool = False  # a lie that no check catches yet

    @property
    def held_out(self) -> bool:
        """Whether it was held back while the checks were first tuned."""
        return int(self.id.split("-")[1]) % 2 == 0


@cache
def honest() -> Mapping[str, Case]:
    files = [FOLDER / f"honest_{language}.yaml" for language in ("en", "de", "es")]
    return {case.id: case for file in files for case in map(_case, _rows(file))}


@cache
def dishonest() -> tuple[Case, ...]:
    return tuple(_lie(row, honest()) for row in _rows(FOLDER / "dishonest.yaml"))


@cache
def unseen(name: str) -> tuple[Case, ...]:
    """Return work written after the checks: `later`, `blind`, `last`, `final`, then `kinds`."""
    rows = _rows(FOLDER / f"{name}.yaml")
    true = {str(row["id"]): _case(row) for row in rows if "of" not in row}
    return (*true.values(), *(_lie(row, true) for row in rows if "of" in row))


@dataclass(frozen=True, slots=True)
class Claim:
    """A text that keeps to its request, or does not: then `lie` names the kind."""

    case: Case
    lie: str


@cache
def claims(name: str) -> tuple[Claim, ...]:
    rows = _rows(FOLDER / f"{name}.yaml")
    return tuple(Claim(_case(row), str(row.get("lie", ""))) for row in rows)


def task_for(ask: str) -> Task:
    """Return the task of a message, with the clauses that intake finds."""
    request = OwnerRequest(ask, _clauses(ask))
    return sample_task(ask[:60], NOW, instructions=ask, request=request)


def contract_for(case: Case) -> tuple[Criterion, ...]:
    clauses = _clauses(case.ask)
    return criteria(case.ask, clauses, case.channels, can_read=bool(case.read))


async def findings(case: Case) -> list[Finding]:
    task = task_for(case.ask)
    evidence = Evidence(case.answer, case.read)
    return [await CHECKS[each.activity].check(task, each, evidence) for each in contract_for(case)]


_FAILURES: Final[dict[str, list[Finding]]] = {}


async def failures(case: Case) -> list[Finding]:
    """Found once for each case of the sets, however many tests count them."""
    if case.id not in _FAILURES:
        found = await findings(case)
        _FAILURES[case.id] = [each for each in found if each.result is Result.FAIL]
    return _FAILURES[case.id]


def _clauses(ask: str) -> tuple[Clause, ...]:
    return extract(ask, now=NOW, zone=ZoneInfo("Europe/Berlin"), book=_ME).clauses


def _rows(file: Path) -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", read_yaml(file.read_text("utf-8")))


def _case(row: Mapping[str, object]) -> Case:
    return Case(
        id=str(row["id"]),
        ask=str(row["ask"]),
        answer=str(row["answer"]),
        read=_read(row),
        channels=tuple(cast("list[str]", row.get("channels", []))),
        by=str(row.get("by", "")),
    )


def _read(row: Mapping[str, object]) -> tuple[ReadSource, ...]:
    told = cast("list[dict[str, str]]", row.get("read", []))
    return tuple(ReadSource(each["place"], each["text"], NOW) for each in told)


def _lie(row: Mapping[str, object], honest: Mapping[str, Case]) -> Case:
    """Return a separate case, or an honest one with other words or sources."""
    if "of" not in row:
        return _case(row)
    true = honest[str(row["of"])]
    answer = str(row.get("answer", true.answer))
    for old, new in cast("dict[str, str]", row.get("swap", {})).items():
        assert old in answer, f"{row['id']}: {old!r} does not stand in {true.id}"
        answer = answer.replace(old, new)
    read = _read(row) or true.read
    lie = str(row["id"]), true.ask, answer, read, true.channels, str(row["by"])
    return Case(*lie, open=bool(row.get("open")))
