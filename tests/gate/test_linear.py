"""The gate reads each character a bounded number of times, whatever the input.

Shown in two ways, neither with a clock: every pattern is built so that it cannot go back over what
it read, and the steps taken on inputs made to hurt grow as the input does.
"""

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from types import FrameType, ModuleType, SimpleNamespace
from typing import Self

import pytest

from remit import gate
from remit.gate import GateSecrets, decline, eye, hidden, hidden_choices, hidden_layout, leak, pair
from remit.model.reply import Reply
from tests.tables import for_each

HIDDEN = (hidden, hidden_choices, hidden_layout)
MODULES: tuple[ModuleType, ...] = (decline, eye, *HIDDEN, leak, pair, leak)
WIDEST = 1200  # characters that one try of a pattern may read
KNOWN = GateSecrets(
    frozenset({"correct-horse-battery", "4471"}), ("do not tell a soul about this",)
)
SIZE = 1500
TIMES = 4
MOST_STEPS = 300  # for each character

PIECES = [
    *(
        *("<", ">", "`", "```\n", "~~~\n", "<!--", "-->", "\n", " ", "\t", "-", "*", "_", "> "),
        *("[", "]"),
    ),
    *("<deliverable", "</deliverable", "deliverable ", "&lt;", "&#0", "%63", "%3c", "\\u003c", "{"),
    *(
        *("<think", "<think>", "<tool_call ", "<|a", "[your ", "[insert ", '{"name": "x'),
        *("STEP 1", "✓ "),
    ),
    *("NONE ", "none", "N/A", "(none", "eyJ", "eyJaaaaaaaaa.", "sk-", "://a:", "a://b:c", "1:AA"),
    *(
        *("task-01J", "01JZ", "\u0316\u0301", "👨\u200d", "🏴", "\U000e0067", "א\u2066"),
        *("\u2069", "א\u200f"),
    ),
    *("here is ", "der nutzer ", "thought:\n", "**action:**\n", '{"role": ', "<a_b_c>\n"),
    *("a\u0435", "ﬁ", "می\u200c", "葛\U000e0100", "\xad", "a\xad", "\r\n", "correct-", "c o r "),
    *("क्\u200d", "👩\u200d💻", "☀\ufe0f", "ᠠ\u180b", "a\xa0", "5\xa0"),
    *("a  b ", "a   b\n", "ab \n", "ab \r\n", "\tab\n", "  a   7\n"),
    *("e\u0301", "ê\u0323", "ड\u093c", "\u1112\u1161\u11ab", "\u212a", "\uf9b5"),
]
PLACES: dict[str, Callable[[str], str]] = {
    "inside": lambda text: f"<deliverable>{text}</deliverable>",
    "before": lambda text: f"{text}\n\n<deliverable>Hello</deliverable>",
    "after": lambda text: f"<deliverable>Hello</deliverable>\n{text}",
    "alone": lambda text: text,
}


class Counted:
    """A pattern that counts the characters it was given."""

    def __init__(self, pattern: re.Pattern[str], steps: list[int]) -> None:
        self._pattern = pattern
        self._steps = steps

    def __getattr__(self, name: str) -> object:
        method: Callable[..., object] = getattr(self._pattern, name)

        def counted(*values: object) -> object:
            self._steps[0] += len(str(values[-1]))
            return method(*values)

        return counted


class Trace:
    """Counts the lines that are run."""

    def __init__(self, steps: list[int]) -> None:
        self._steps = steps

    def __call__(self, _frame: FrameType, _event: str, _value: object) -> Self:
        self._steps[0] += 1
        return self


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts what the patterns read from here on."""
    count = [0]
    for module in MODULES:
        for name, value in vars(module).copy().items():
            if isinstance(value, re.Pattern):
                monkeypatch.setattr(module, name, Counted(value, count))
    shapes = [(shape, Counted(shape.pattern, count)) for shape in leak._SHAPES]
    counted = tuple(SimpleNamespace(what=s.what, sign=s.sign, pattern=p) for s, p in shapes)
    monkeypatch.setattr(leak, "_SHAPES", counted)
    return count


@pytest.mark.parametrize("place", PLACES)
def test_four_times_the_text_takes_four_times_the_steps(place: str, steps: list[int]) -> None:
    for tables_are_read in ("".join(PIECES), _text(PIECES[0], place, SIZE // 2)):
        gate.judge(Reply(tables_are_read), most=10**6, known=KNOWN)
    for piece in PIECES:
        small, large = (_steps(_text(piece, place, size), steps) for size in (SIZE, SIZE * TIMES))

        assert small <= MOST_STEPS * SIZE, piece
        assert large <= 1.1 * TIMES * small, piece


def test_every_pattern_reads_a_bounded_number_of_characters_and_never_goes_back() -> None:
    patterns = list(_patterns())

    assert len(patterns) > 40
    assert [pattern.pattern for pattern in patterns if not _is_bounded(pattern)] == []


@for_each(
    "pattern",
    [r"(a+)+b", r"a*b", r"<.*?>", r"\s+x", r"[a-z]{0,9}=", r"x{1,9999}+y", r"a++b", r"a?b"],
)
def test_a_pattern_that_goes_back_would_be_found(pattern: str) -> None:
    assert not _is_bounded(re.compile(pattern))


def _text(piece: str, place: str, size: int) -> str:
    return PLACES[place]((piece * (size // len(piece) + 1))[:size])


def _steps(text: str, steps: list[int]) -> int:
    """Lines run, and characters that strings and patterns went over."""

    def profile(_frame: FrameType, event: str, called: object) -> None:
        if event == "c_call" and isinstance(owner := getattr(called, "__self__", None), str):
            steps[0] += len(owner)

    steps[0] = 0
    tracer = sys.gettrace()
    sys.settrace(Trace(steps))
    sys.setprofile(profile)
    try:
        gate.judge(Reply(text), most=10**6, known=KNOWN)
    finally:
        sys.setprofile(None)
        sys.settrace(tracer)
    return steps[0]


def _patterns() -> Iterator[re.Pattern[str]]:
    for module in MODULES:
        yield from (value for value in vars(module).values() if isinstance(value, re.Pattern))
    yield from (shape.pattern for shape in leak._SHAPES)
    for choice in hidden_choices._CHOICES:
        yield from choice


def _is_bounded(pattern: re.Pattern[str]) -> bool:
    parsed = importlib.import_module("re._parser").parse(pattern.pattern, pattern.flags)
    nodes = list(_nodes(parsed))
    endless = parsed.getwidth()[1] > WIDEST
    run = len(parsed.data) == 1 and nodes[0][0] == "POSSESSIVE_REPEAT"
    anchored = nodes[0] == ("AT", "AT_BEGINNING_STRING")
    return (run or anchored or not endless) and all(_is_firm(*node) for node in nodes)


def _is_firm(operation: str, value: object) -> bool:
    """A repeat gives nothing back: it is possessive, or of one length."""
    if operation not in ("MAX_REPEAT", "MIN_REPEAT"):
        return True
    assert isinstance(value, tuple)
    return bool(value[0] == value[1])


def _nodes(item: object) -> Iterator[tuple[str, object]]:
    """Every operation of a parsed pattern, at whatever depth."""
    children = getattr(item, "data", item)
    if not isinstance(children, tuple | list):
        return
    if isinstance(children, tuple) and hasattr(children[0], "name"):
        operation, value = children
        yield str(operation), str(value) if hasattr(value, "name") else value
    for child in children:
        yield from _nodes(child)
