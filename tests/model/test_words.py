"""One word, one meaning: every word of the app exists in the code, by that name."""

import re
from functools import cache
from pathlib import Path

from tests.tables import for_each

APP = Path(__file__).parents[2] / "src/remit"
_TOP = re.compile(r"^(?:class |(?:async )?def )?(\w+)(?=[(:]| =)", re.MULTILINE)
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
def test_a_word_of_the_app_is_a_name_in_the_code(word: str) -> None:
    named = any(
        name in (word.lower(), f"{word.lower()}s") or name.startswith(word) or name.endswith(word)
        for name in _named()
    )
    assert named, f"nothing in src/remit is called {word}"


@cache
def _named() -> frozenset[str]:
    """Every module, and every class, function and value at the top of one."""
    files = sorted(APP.rglob("*.py"))
    modules = {path.parent.name if path.stem == "__init__" else path.stem for path in files}
    return frozenset(modules.union(*(_TOP.findall(path.read_text()) for path in files)))
