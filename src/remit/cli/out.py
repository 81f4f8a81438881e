"""Terminal output: data on stdout, messages and progress on stderr; and the flags of commands.

Every piece is cleaned before colours are added, so no title, reply or question from outside can
move the cursor or overwrite a line.
"""

import json
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Final, NamedTuple, TextIO, TypeAlias

from remit.cli import clock
from remit.cli.commands import Flag
from remit.model.codec import Json, JsonMap

SCHEMA_VERSION: Final = 1

# Whole sequences first, so that their letters go too; then every remaining control character, and
# direction marks.
_UNCLEAN: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]"
)
_STYLES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
VERDICT_STYLES: Final = {"ok": "green", "warn": "yellow", "fail": "red"}
_TURNS: Final = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_RAW_IN_JSON: Final = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *_TURNS)}


class StyledText:
    """A piece of text with a colour, for terminals."""

    __slots__ = ("style", "text")

    def __init__(self, text: str, style: str) -> None:
        self.text = text
        self.style = style


Piece: TypeAlias = str | StyledText


class DoctorFinding(NamedTuple):
    """How one part of Remit stands, and what to do about it."""

    part: str
    verdict: str  # ok, warn or fail
    said: str
    todo: str = ""

    @property
    def mark(self) -> StyledText:
        return StyledText(f"{self.verdict:<5}", VERDICT_STYLES[self.verdict])


def ok(part: str, text: str) -> DoctorFinding:
    return DoctorFinding(part, "ok", text)


def warn(part: str, text: str, todo: str) -> DoctorFinding:
    return DoctorFinding(part, "warn", text, todo)


def fail(part: str, text: str, todo: str = "") -> DoctorFinding:
    return DoctorFinding(part, "fail", text, todo)


def clean(text: str) -> str:
    """Remove what a terminal would execute instead of show."""
    return text if text.isascii() and text.isprintable() else _UNCLEAN.sub("", text)


def line(*pieces: Piece) -> None:
    """Print data for a person."""
    _write(sys.stdout, pieces)


def say(*pieces: Piece) -> None:
    """Print messages beside the data."""
    _write(sys.stderr, pieces)


def emit(payload: JsonMap) -> None:
    """Print data for a program: one object on one line."""
    whole: Json = {"schema_version": SCHEMA_VERSION, **payload}
    text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    sys.stdout.write(text.translate(_RAW_IN_JSON) + "\n")
    sys.stdout.flush()


def print_result(as_json: bool, payload: JsonMap, *messages: str, data: str = "") -> int:
    """Print a result, as JSON or as messages and data; return the exit code of success."""
    if as_json:
        emit(payload)
        return 0
    for message in messages:
        say(message)
    if data:
        line(data)
    return 0


def done_with(name: str, sentence: str, as_json: bool) -> int:
    """Print what was done with something, by its name."""
    return print_result(as_json, {"name": name, "detail": sentence}, sentence)


def listing(
    as_json: bool,
    payload: JsonMap,
    rows: "Sequence[Sequence[Piece]]",
    heads: Sequence[str] = (),
    empty: str = "",
) -> int:
    """Print a list, as JSON or as a table; `empty` is said if there is nothing in it."""
    if as_json:
        emit(payload)
    elif rows:
        table(rows, heads)
    elif empty:
        say(empty)
    return 0


def hint(text: str, style: str = "dim") -> None:
    """Print a message that may be overlooked."""
    say(StyledText(text, style))


def document(payload: JsonMap) -> None:
    """Print a whole file in another program's format."""
    text = json.dumps(payload, ensure_ascii=False, indent=2)
    sys.stdout.write(text.translate(_RAW_IN_JSON) + "\n")
    sys.stdout.flush()


def is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def interactive() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and is_terminal(sys.stdout)


def agrees(question: str) -> bool:
    """Ask for a yes; Enter is a no."""
    return input(f"{clean(question)} [y/N] ").strip().lower() in ("y", "yes")


def width(text: str) -> int:
    """Return how many columns a text takes."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def cut(text: str, most: int) -> str:
    """Shorten a text to this many columns."""
    if width(text) <= most:
        return text
    kept, left = "", most - 1
    for char in text:
        left -= _columns(char)
        if left < 0:
            break
        kept += char
    return kept.rstrip() + "…"


def table(rows: Sequence[Sequence[Piece]], heads: Sequence[str] = ()) -> None:
    """Print columns side by side; on a terminal the last one is cut at the edge."""
    above = [[StyledText(head, "dim") for head in heads]] if heads else []
    cleaned = [[_one_line(cell) for cell in row] for row in (*above, *rows)]
    widths = [max(width(_text(cell)) for cell in column) for column in zip(*cleaned, strict=True)]
    most = terminal_width()
    for row in cleaned:
        pieces: list[Piece] = []
        for cell, wide in zip(row[:-1], widths, strict=False):
            pieces += [cell, " " * (wide - width(_text(cell)) + 2)]
        room = most and max(most - sum(widths[:-1]) - 2 * len(widths[:-1]), 16)
        last = row[-1]
        line(*pieces, StyledText(cut(last.text, room), last.style) if room else last)


def _write(stream: TextIO, pieces: Sequence[Piece]) -> None:
    painted = is_terminal(stream) and not os.environ.get("NO_COLOR")
    text = "".join(_paint(piece) if painted else clean(_text(piece)) for piece in pieces)
    stream.write(text.rstrip(" ") + "\n")
    stream.flush()


def _paint(piece: Piece) -> str:
    if isinstance(piece, str):
        return clean(piece)
    code = _STYLES.get(piece.style)
    return f"\x1b[{code}m{clean(piece.text)}\x1b[0m" if code else clean(piece.text)


def _one_line(cell: Piece) -> StyledText:
    ink = cell if isinstance(cell, StyledText) else StyledText(cell, "")
    return StyledText(" ".join(clean(ink.text).split()), ink.style)


def _text(piece: Piece) -> str:
    return piece if isinstance(piece, str) else piece.text


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def terminal_width() -> int:
    """Return the terminal's width; 0 if the output goes elsewhere and nothing is cut."""
    if not is_terminal(sys.stdout):
        return 0
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except OSError:
        return 80


def flag(text: str, *names: str) -> Flag:
    """Declare a flag or argument: its help, and its names if not its own."""
    return Flag(text, *names)


def free(text: str) -> Flag:
    """Declare an argument that may begin with a hyphen, or be one."""
    return Flag(text, leading_hyphen=True)


def number_flag(text: str, *names: str, least: float = 1, most: float | None = None) -> Flag:
    """Declare a flag or argument that is a number in a range."""
    return Flag(text, *names, least=least, most=most)


AsJson: TypeAlias = Annotated[bool, flag("Print JSON.", "--json")]
Ids: TypeAlias = Annotated[str, free("Ids, or the first letters of them; - reads them from stdin.")]
Id: TypeAlias = Annotated[str, flag("The id, or its first letters.")]
Wait: TypeAlias = Annotated[
    bool,
    flag("Wait until it has ended, is paused or needs you; the exit code says which.", "--wait"),
]
Timeout: TypeAlias = Annotated[
    float | None,
    number_flag("With --wait: give up after this many seconds, with exit code 124.", least=0),
]


Port: TypeAlias = Annotated[
    int | None,
    number_flag("The port; 0 picks a free one.", "--port", "-p", least=0, most=65535),
]


_PATIENCE: Final = 1.0  # seconds; shorter work is not reported


@contextmanager
def working(text: str) -> Iterator[None]:
    """Show a moving line during a wait."""
    if not is_terminal(sys.stderr):
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it

    with Console(stderr=True).status(clean(text)):
        yield


@contextmanager
def progress_bar(text: str) -> Iterator[Callable[[float], None]]:
    """Show a progress bar; call the yielded function with the share that is done."""
    if not is_terminal(sys.stderr):
        yield _Quarters(text).tell
        return
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
    from rich.progress import Progress  # noqa: PLC0415 - as above

    with Progress(console=Console(stderr=True), transient=True) as bar:
        shown = bar.add_task(text, total=1.0)
        yield lambda part: bar.update(shown, completed=part)


def part(state: JsonMap) -> float:
    """Return the share of tasks in the recall index."""
    held, tasks = (int(str(state[name])) for name in ("snippets", "tasks"))
    return min(1.0, held / tasks) if tasks else 1.0


class _Quarters:
    """Prints one line per quarter, if it takes longer than a moment."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._begun = clock.seconds()
        self._told = 0

    def tell(self, part: float) -> None:
        quarter = int(part * 4)
        if quarter > self._told and clock.seconds() - self._begun > _PATIENCE:
            self._told = quarter
            say(f"{self._text} {quarter * 25} %")
