"""How a recording is kept: one file for each group, sections one after the other.

The title of a section is the request itself, as `=== remit ls --json`: to have more asked, write
one more title where it belongs, and record. `{done}` stands for the id of what the day calls so,
`{folder}` for a folder. Nothing is asked by a title that begins with `also: `.

What stands word for word in an earlier section of the file is not written again: a line says how
many lines there are, and where they stand. So a change of something shared is one change.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

PLACE: Final = Path(__file__).parent / "expected"
PAGES: Final = ("pages", "pages_inbox", "pages_settings", "pages_tasks")
_HEAD: Final = "=== "
_ALSO: Final = "also: "
_AGAIN: Final = re.compile(r" \([0-9]+\)$")
_LEAST: Final = 8  # equal lines that are worth a reference


def write(sections: Mapping[str, str]) -> str:
    """One file."""
    earlier: dict[tuple[str, ...], tuple[str, int]] = {}
    texts: dict[str, list[str]] = {}
    parts: list[str] = []
    for title, text in sections.items():
        lines = text.splitlines()
        kept = _shortened(lines, earlier, texts)
        parts.append("\n".join([_HEAD + title, *kept]) + "\n")
        texts[title] = lines
        for n in range(len(lines) - _LEAST + 1):
            earlier.setdefault(tuple(lines[n : n + _LEAST]), (title, n))
    return "\n".join(parts)


def requests(name: str) -> list[str]:
    """What the sections of a file ask, in order; what is asked again has a number there."""
    found: list[str] = []
    for line in (PLACE / f"{name}.txt").read_text("utf-8").splitlines():
        title = line.removeprefix(_HEAD)
        if title != line and not title.startswith(_ALSO):
            first = _AGAIN.sub("", title)
            found.append(first if first in found else title)
    return found


def http_requests(name: str) -> list[tuple[str, str, str]]:
    """Method, path and body of each request, or protocol, method and parameters."""
    parts = [title.split(" ", 2) for title in requests(name)]
    return [(method, path, "".join(body)) for method, path, *body in parts]


def typed_lines(name: str) -> list[tuple[str, str]]:
    """What is typed after `remit`, and what is said on stdin."""
    parts = [title.removeprefix("remit").strip().partition(" <<< ") for title in requests(name)]
    return [(line, json.loads(stdin) if stdin else "") for line, _, stdin in parts]


def _shortened(
    lines: list[str],
    earlier: Mapping[tuple[str, ...], tuple[str, int]],
    texts: Mapping[str, list[str]],
) -> list[str]:
    kept: list[str] = []
    n = 0
    while n < len(lines):
        found = earlier.get(tuple(lines[n : n + _LEAST]))
        if found is None:
            kept.append(lines[n])
            n += 1
            continue
        same = _equal(lines[n:], texts[found[0]][found[1] :])
        kept.append(f"[{same} lines as in {found[0]}]")
        n += same
    return kept


def _equal(some: list[str], others: list[str]) -> int:
    """How many lines are equal from the start on."""
    pairs = enumerate(zip(some, others, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(some), len(others)))
