"""How a recording is kept: one file for each group, sections one after the other.

What stands word for word in an earlier section of the file is not written again: a line says how
many lines there are, and where they stand. So a change of something shared is one change.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

PLACE: Final = Path(__file__).parent / "expected"
_HEAD: Final = "=== "
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


def titles(text: str) -> list[str]:
    """What a file has sections about."""
    found = [line for line in text.splitlines() if line.startswith(_HEAD)]
    return [line.removeprefix(_HEAD) for line in found]


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
