"""One word, one meaning: every word of the house exists in the code, by that name."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.tables import for_each

HOUSE = Path(__file__).parents[2] / "src/remit"
WORDS = [
    word
    for line in (
        "Trigger Cue Source",
        "Task Status Run Step Lease Outcome",
        "Clause Plan WorkItem Contract Criterion Debt Check Finding Verdict",
        "Specialist Worktree Claim SpecialistAttempt Checkpoint",
        "Brain Session Prompt Snippet Twin Reply Deliverable Gate Hold",
        "Delivery Channel Receipt Courier Contact Reach Permission",
        "Operation Review Decision",
        "Conversation Turn Notice",
        "Series Slot",
        "Event Journal",
        "Rule Guideline Lesson",
        "Taint Budget",
    )
    for word in line.split()
]


@for_each("word", WORDS)
def test_a_word_of_the_house_is_a_name_in_the_code(word: str) -> None:
    named = any(
        name in (word.lower(), f"{word.lower()}s") or name.endswith(word) for name in _named()
    )
    assert named, f"nothing in src/remit is called {word}"


@cache
def _named() -> frozenset[str]:
    """Every name in the house."""
    files = sorted(HOUSE.rglob("*.py"))
    return frozenset({*map(_module, files), *(name for path in files for name in _names(path))})


def _module(path: Path) -> str:
    """A module or package is a name too: `remit.gate` is the gate."""
    return path.parent.name if path.stem == "__init__" else path.stem


def _names(path: Path) -> Iterator[str]:
    """Classes, functions and type aliases that stand at the top of a file."""
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.ClassDef(name) | ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                yield name
            case ast.Assign([ast.Name(name)]) | ast.AnnAssign(ast.Name(name)):
                yield name
            case _:
                pass
