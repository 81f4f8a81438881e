"""Reads the result of each test from the report that the runner writes."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final, TypeAlias, cast
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]
from msgspec import Struct
from msgspec.structs import replace

MAX_MESSAGE: Final = 600  # characters of a test's message


class CaseOutcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class CaseResult(Struct, frozen=True):
    name: str
    outcome: CaseOutcome = CaseOutcome.PASSED
    file: str = ""  # relative to the project, if known
    line: int = 0
    message: str = ""

    @property
    def key(self) -> str:
        """Identifies the same test in another run."""
        return f"{self.file}::{self.name}"

    @property
    def function(self) -> str:
        """The key without test parameters, which may change with the code."""
        return re.sub(r"\[.*\]$", "", self.key, flags=re.DOTALL)


Cases: TypeAlias = tuple[CaseResult, ...]
# What the runners call an outcome; another word means that the test was skipped.
_PASSED_WORDS: Final = frozenset({"passed", "pass", "ok"})
_FAILED_WORDS: Final = frozenset({"failed", "fail", "FAILED", "FAIL", "ERROR"})


def _outcome(word: str) -> CaseOutcome:
    if word in _PASSED_WORDS:
        return CaseOutcome.PASSED
    return CaseOutcome.FAILED if word in _FAILED_WORDS else CaseOutcome.SKIPPED


def read_cases(
    reader: str, report: bytes, output: str, root: str, within: str = ""
) -> Cases | None:
    """Return each test of a run `within` a folder of the project; None if they cannot be read."""
    found = _READERS[reader](report, output) if reader else None
    if found is None:
        return None
    return tuple(_with_relative_path(case, root.rstrip("/") + "/", within) for case in found)


def read_count(output: str) -> int | None:
    """Return how many tests a runner says it ran; None if it does not say."""
    counts = [sum(map(int, each.findall(output))) for each in _COUNTS if each.search(output)]
    return max(counts, default=None)


_COUNTS: Final = tuple(
    re.compile(each, re.MULTILINE)
    for each in (
        r"^Ran (\d+) tests? in ",
        r"^\s*(\d+) (?:passing|failing)\b",
        r"\b(\d+) (?:passed|failed)\b",
        r"^[#\u2139] (?:pass|fail) (\d+)$",
        r"^1\.\.(\d+)\s*$",
        r"^OK \((\d+) tests?",
        r"^(\d+) examples?, ",
        r"^Tests run: (\d+),",
    )
)


def _with_relative_path(case: CaseResult, root: str, within: str) -> CaseResult:
    """Return a case with its path relative to the project, and the line in its message."""
    file = case.file.removeprefix("file://")
    if within and file and not file.startswith("/"):
        file = f"{within}/{file}"
    file = file.removeprefix(root)
    text = _FRAME.sub("", case.message.replace(root, ""))
    line = case.line
    named = [(m[1], int(m[2])) for m in _PLACE.finditer(text)]
    if file:
        own = [
            n for path, n in named if f"/{file}".endswith(f"/{path}") or path.endswith(f"/{file}")
        ]
        line = (own[-1] if file.endswith(".py") else own[0]) if own else line
    else:
        inside = [each for each in named if not each[0].startswith(("/", "node:", "<"))]
        file, line = inside[0] if inside and case.outcome is CaseOutcome.FAILED else (file, line)
    return replace(case, file=file, line=line, message=text.strip()[:MAX_MESSAGE])


# Frames in a runner's own code help nobody.
_FRAME: Final = re.compile(r"^\s+at .*(?:node_modules|node:|<anonymous>\)$).*\n?", re.MULTILINE)
_PLACE: Final = re.compile(r"([\w@./+-]+\.\w+):(\d+)")


# Reports in files ---------------------------------------------------------------------------------


def _report(report: bytes, output: str) -> Iterable[CaseResult] | None:
    """Parse JUnit's XML, or the JSON of Jest, Vitest and Mocha."""
    if not report.strip():
        report = _json_in(output)
    if report.lstrip().startswith(b"{"):
        document = _object(report)
        return _jest(document) if "testResults" in document else _mocha(document)
    try:
        root = fromstring(report)
    except (ParseError, DefusedXmlException, ValueError):
        return None
    return list(_junit(root, ()))


def _json_in(output: str) -> bytes:
    """Return the report that an older Mocha prints."""
    at = re.search(r'^\{\s*"stats"', output, re.MULTILINE)
    return output[at.start() : output.rfind("}") + 1].encode() if at else b""


def _junit(element: Element, suites: tuple[str, ...]) -> Iterator[CaseResult]:
    for child in element:
        if child.tag == "testsuite":
            name = child.get("name", "")
            yield from _junit(child, (*suites, name) if name != "pytest" else suites)
        elif child.tag == "testcase":
            yield _junit_case(child, suites)


def _junit_case(case: Element, suites: tuple[str, ...]) -> CaseResult:
    owner = case.get("classname", "")
    named = owner if owner not in ("", "test") else " ".join(suites)
    name = ".".join(filter(None, (named, case.get("name", ""))))
    line = case.get("line", "")
    place = case.get("file", ""), int(line) + 1 if line.isdecimal() else 0
    wrong = next((each for each in case if each.tag in ("failure", "error")), None)
    if wrong is not None:
        return CaseResult(name, CaseOutcome.FAILED, *place, _junit_message(wrong))
    skipped = case.find("skipped") is not None
    return CaseResult(name, CaseOutcome.SKIPPED if skipped else CaseOutcome.PASSED, *place)


def _junit_message(wrong: Element) -> str:
    """Return a test's message, the most useful line first."""
    text, headline_text = _plain(wrong.text or ""), _first((wrong.get("message"), wrong.text))
    if headline_text == "internal error":  # such as a SystemExit while tests are collected
        headline_text = text.strip().rpartition("\n")[2]
    if failed := _DOCTEST.search(text):
        headline_text = f"expected {_first((failed[1],))}, got {_first((failed[2],))}"
    pointed = [line for line in text.splitlines() if line[:2] in ("E ", "> ")]
    if headline_text == "collection failure" and pointed:
        headline_text = pointed[-1][1:].strip()
    places = [line for line in text.splitlines() if re.match(r"\S+:\d+: ", line)]
    return "\n".join((headline_text, *(pointed[-12:] if pointed else [text]), *places[-1:]))


# What a failed doctest prints.
_DOCTEST: Final = re.compile(r"^Expected:\n(.*?)^Got:\n(.*?)(?:^\S|\Z)", re.MULTILINE | re.DOTALL)


def _jest(document: Mapping[str, object]) -> list[CaseResult]:
    found: list[CaseResult] = []
    for file in _objects(document.get("testResults")):
        name = str(file.get("name", ""))
        cases = _objects(file.get("assertionResults"))
        found += (_jest_case(case, name) for case in cases)
        if not cases and file.get("status") == "failed":  # it could not even be loaded
            found.append(
                CaseResult(name, CaseOutcome.FAILED, name, 0, str(file.get("message", "")))
            )
    return found


def _jest_case(case: Mapping[str, object], file: str) -> CaseResult:
    outcome = _outcome(str(case.get("status")))
    messages = case.get("failureMessages")
    message = _plain("\n".join(map(str, messages))) if isinstance(messages, list) else ""
    name = case.get("fullName") or case.get("title") or ""
    place = case.get("location")
    line = place.get("line", 0) if isinstance(place, dict) else 0
    return CaseResult(str(name), outcome, file, line if isinstance(line, int) else 0, message)


def _mocha(document: Mapping[str, object]) -> list[CaseResult] | None:
    if not isinstance(document.get("stats"), dict):
        return None
    lists = zip(("passes", "failures", "pending"), CaseOutcome, strict=True)
    return [_mocha_case(case, end) for name, end in lists for case in _objects(document.get(name))]


def _mocha_case(case: Mapping[str, object], outcome: CaseOutcome) -> CaseResult:
    wrong = case.get("err")
    error = wrong if isinstance(wrong, dict) else {}
    texts = [str(error.get(each) or "") for each in ("message", "stack")]
    name = case.get("fullTitle") or case.get("title") or ""
    return CaseResult(str(name), outcome, str(case.get("file") or ""), 0, "\n".join(texts).strip())


# What is printed ----------------------------------------------------------------------------------


def _go(report: bytes, output: str) -> list[CaseResult]:
    """Parse `go test -json`; a package that does not build fails as a whole."""
    del report
    texts: dict[tuple[str, str], list[str]] = {}
    ends: dict[tuple[str, str], str] = {}
    for line in output.splitlines():
        event = _object(line) if line.startswith("{") else {}
        where = (
            str(event.get("Package") or event.get("ImportPath") or ""),
            str(event.get("Test") or ""),
        )
        action = str(event.get("Action", ""))
        if action in ("output", "build-output"):
            texts.setdefault(where, []).append(str(event.get("Output", "")))
        elif action in ("pass", "fail", "skip"):
            ends[where] = action
    failed = {package for (package, test), end in ends.items() if test and end == "fail"}
    return [
        _go_case(package, test, end, "".join(texts.get((package, test), ())))
        for (package, test), end in ends.items()
        if test or (end == "fail" and package not in failed)
    ]


def _go_case(package: str, test: str, end: str, text: str) -> CaseResult:
    outcome = _outcome(end)
    lines = [line.strip() for line in text.splitlines()]
    shown = [line for line in lines if line and not line.startswith(("=== ", "--- "))]
    message = "\n".join(shown) if outcome is CaseOutcome.FAILED else ""
    return CaseResult(f"{package}.{test}".strip("."), outcome, "", 0, message)


def _cargo(report: bytes, output: str) -> list[CaseResult] | None:
    """Parse libtest's output; without its summaries nothing is believed."""
    del report
    if not re.search(r"^test result: ", output, re.MULTILINE):
        return None
    found, target = [], ""
    for line in output.splitlines():
        if running := _CARGO_TARGET.match(line):
            target = re.sub(r"-[0-9a-f]{16}$", "", running[1])
        elif case := _CARGO_CASE.match(line):
            outcome = _outcome(case[2])
            message = _panic(case[1], output) if outcome is CaseOutcome.FAILED else ""
            found.append(CaseResult(f"{target} {case[1]}".strip(), outcome, "", 0, message))
    return found


_CARGO_TARGET: Final = re.compile(r"\s*(?:Running|Doc-tests) (?:unittests )?([\w./:-]+)")
_CARGO_CASE: Final = re.compile(r"test (.+?) \.\.\. (ok|FAILED|ignored)\b")


def _panic(name: str, output: str) -> str:
    found = re.search(
        rf"^thread '{re.escape(name)}'[^\n]* panicked at ([^\n]+?):?\n(.*?)(?:\nnote:|\n\n|\Z)",
        output,
        re.MULTILINE | re.DOTALL,
    )
    return f"{found[2].strip()}\n{found[1]}" if found else ""


def _unittest(report: bytes, output: str) -> list[CaseResult] | None:
    """Parse `unittest -v`, if it names as many tests as it counts."""
    del report
    counted = re.search(r"^Ran (\d+) tests? in ", output, re.MULTILINE)
    names = [_unittest_case(each, output) for each in _UNITTEST_CASE.finditer(output)]
    return names if counted and len(names) == int(counted[1]) else None


_UNITTEST_CASE: Final = re.compile(
    r"^(\w+) \(([\w.]+)\)(?:\n[^\n]*?)? \.\.\. (?:[^\n]*\n)*?.*?"
    r"(ok|FAIL|ERROR|skipped|expected failure)\b",
    re.MULTILINE,
)


def _unittest_case(found: re.Match[str], output: str) -> CaseResult:
    test, owner, end = found.groups()
    owner = owner.removesuffix(f".{test}")
    outcome, text = _outcome(end), ""
    if outcome is CaseOutcome.FAILED:
        named = rf"{re.escape(test)} \({re.escape(owner)}[\w.]*\)"
        head = rf"^(?:FAIL|ERROR): {named}[^\n]*\n(.*?)(?:\n\n|\n=====)"
        details = re.search(head, output, re.MULTILINE | re.DOTALL)
        text = re.sub(r'File "([^"]+)", line (\d+)', r"\1:\2", details[1]) if details else ""
    last = text.strip().rpartition("\n")[2]
    return CaseResult(f"{owner}.{test}", outcome, "", 0, f"{last}\n{text}".strip())


_READERS: Final[Mapping[str, Callable[[bytes, str], Iterable[CaseResult] | None]]] = {
    "report": _report,
    "go": _go,
    "cargo": _cargo,
    "unittest": _unittest,
}


# What was said ------------------------------------------------------------------------------------


def headline(case: CaseResult) -> str:
    """Return one line for a failed test: place, name, message."""
    place = f"{case.file}:{case.line}" if case.file and case.line else case.file
    text = _first(case.message.splitlines())
    name = _short_name(case)
    return ": ".join(filter(None, (" ".join(filter(None, (place, name))), text)))[:300]


def _short_name(case: CaseResult) -> str:
    """Return a name without the module that the path already says."""
    module = str(PurePosixPath(case.file).with_suffix("")).replace("/", ".") if case.file else ""
    return case.name.removeprefix(f"{module}.") if module else case.name


def _first(texts: Sequence[str | None]) -> str:
    """Return the first line of the first text that is not empty."""
    lines = (line.strip() for text in texts if text for line in _plain(text).splitlines())
    return next((line for line in lines if line), "")


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", text)


def _objects(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _object(text: str | bytes) -> dict[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
