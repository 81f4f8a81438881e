"""The two corpora the gate is measured on: replies that must pass, and replies that must not.

A good reply is a deliverable of one of the files in `good/` within one of the frames. In these
files `%%` parts the entries, and {U+200D} stands for a character that an editor would not show.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from remit.gate import Author, HoldReason

HERE = Path(__file__).parent
_HIDDEN = re.compile(r"\{U\+([0-9A-F]{4,6})\}")


@dataclass(frozen=True)
class Good:
    name: str
    deliverable: str
    reply: str


@dataclass(frozen=True)
class Hostile:
    name: str
    text: str
    whole: bool  # a whole reply; else a text that is to be sent as it is
    why: HoldReason
    author: Author
    most: int
    secrets: frozenset[str]
    says: str


@cache
def frames() -> tuple[str, ...]:
    return tuple(_entries(HERE / "good/frames.md"))


@cache
def deliverables() -> tuple[tuple[str, str], ...]:
    files = sorted(path for path in (HERE / "good").glob("*.md") if path.stem != "frames")
    return tuple(
        (f"{path.stem}-{number}", text)
        for path in files
        for number, text in enumerate(_entries(path), start=1)
    )


def good() -> list[Good]:
    """Return each deliverable once, in alternating frames."""
    return [
        Good(name, text, frames()[number % len(frames())].replace("{deliverable}", text))
        for number, (name, text) in enumerate(deliverables())
    ]


def hostile() -> list[Hostile]:
    groups = yaml.safe_load((HERE / "hostile.yml").read_text("utf-8"))
    return [_hostile(HoldReason(why), case) for why, cases in groups.items() for case in cases]


def _hostile(why: HoldReason, case: dict[str, object]) -> Hostile:
    whole, text = "reply" in case, _text(case.get("text", ""))
    if "inside" in case:
        text = f"Done.\n\n<deliverable>\n{_text(case['inside'])}\n</deliverable>\n"
    elif whole:
        text = _text(case["reply"])
    secrets = case.get("secrets", [])
    assert isinstance(secrets, list)
    return Hostile(
        name=f"{why}: {case['name']}",
        text=text,
        whole=whole or "inside" in case,
        why=why,
        author=Author(str(case.get("author", "brain"))),
        most=int(str(case.get("most", 4096))),
        secrets=frozenset(map(_text, secrets)),
        says=str(case.get("says", "")),
    )


def _text(value: object) -> str:
    """Return a text; or its pieces joined, so that no scanner takes a key here for a real one."""
    return "".join(map(str, value)) if isinstance(value, list) else str(value)


def _entries(path: Path) -> Iterator[str]:
    for entry in path.read_text("utf-8").split("\n%%\n"):
        yield _HIDDEN.sub(lambda found: chr(int(found[1], 16)), entry.strip("\n"))
