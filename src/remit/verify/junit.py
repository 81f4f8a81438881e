"""How many tests ran, read from the report that a run left, not from what it printed."""

import json
import re
from dataclasses import dataclass
from typing import Final, cast
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

_CARGO: Final = re.compile(
    r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Tests:
    """The names of the tests that ran; `failed` of them went wrong, `skipped` did not run."""

    ran: tuple[str, ...]
    failed: int = 0
    skipped: int = 0


def read(report: bytes) -> Tests | None:
    """The tests of a report, as JUnit's XML or Jest's JSON; None if it is neither."""
    if report.lstrip().startswith(b"{"):
        return _jest(report)
    try:
        root = fromstring(report)
    except (ParseError, DefusedXmlException, ValueError):
        return None
    ran, failed, skipped = [], 0, 0
    for case in root.iter("testcase"):
        if case.find("skipped") is not None:
            skipped += 1
            continue
        failed += case.find("failure") is not None or case.find("error") is not None
        ran.append(f"{case.get('classname', '')}.{case.get('name', '')}")
    return Tests(tuple(ran), failed, skipped)


def go(output: str) -> Tests:
    """What `go test -json` told, event by event."""
    ran, failed, skipped = [], 0, 0
    for line in output.splitlines():
        event = _object(line) if line.startswith("{") else {}
        name, action = event.get("Test"), event.get("Action")
        if isinstance(name, str) and action in ("pass", "fail"):
            ran.append(name)
            failed += action == "fail"
        skipped += isinstance(name, str) and action == "skip"
    return Tests(tuple(ran), failed, skipped)


def cargo(output: str) -> Tests:
    """What cargo counted; it tells no names that could be relied on."""
    counted = [tuple(map(int, found)) for found in _CARGO.findall(output)]
    passed, failed, ignored = (
        (sum(each) for each in zip(*counted, strict=True)) if counted else (0,) * 3
    )
    return Tests(("",) * (passed + failed), failed, ignored)


def _jest(report: bytes) -> Tests | None:
    said = _object(report)
    files = said.get("testResults")
    if not isinstance(files, list):
        return None
    ran, failed, skipped = [], 0, 0
    for case in (case for each in files for case in _cases(each)):
        status = case.get("status")
        if status in ("passed", "failed"):
            ran.append(str(case.get("fullName", "")))
            failed += status == "failed"
        else:
            skipped += 1
    return Tests(tuple(ran), failed, skipped)


def _cases(file: object) -> list[dict[str, object]]:
    cases = file.get("assertionResults") if isinstance(file, dict) else None
    return [case for case in cases if isinstance(case, dict)] if isinstance(cases, list) else []


def _object(text: str | bytes) -> dict[str, object]:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, object]", said) if isinstance(said, dict) else {}
