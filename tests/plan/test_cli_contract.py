"""`remit rehearse contract`: what would prove a task done is told, and nothing is stored."""

from pathlib import Path
from typing import cast

import pytest

from remit.model.codec import JsonMap
from tests.cli.terminal import Terminal
from tests.tables import for_each

DIFF = """\
diff --git a/shop/orders.py b/shop/orders.py
--- a/shop/orders.py
+++ b/shop/orders.py
@@ -1 +1 @@
-x = 1
+cur.execute("DELETE FROM orders")
"""


def test_a_contract_is_told_to_programs_as_s2_writes_it(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    words = ("Add dark mode toggle", "--files", "src/DarkModeToggle.tsx, README.md")
    said = seat.run("rehearse", "contract", *words, "--json")

    assert said.code == 0
    assert said.json == {
        "schema_version": 1,
        "type": "verifiable",
        "criteria": [
            {"activity": "typecheck", "description": "No type errors"},
            {"activity": "lint", "description": "No lint errors"},
            {
                "activity": "unit-test",
                "description": "Tests for DarkModeToggle.tsx",
                "pattern": "DarkModeToggle",
            },
            {"activity": "critic", "description": "frontend review", "pattern": "frontend"},
            {
                "activity": "e2e",
                "description": "E2E coverage for DarkModeToggle.tsx",
                "timing": "deferred",
            },
        ],
        "why": [
            "the files decide: work on code",
            "*.tsx: a component that people see (DarkModeToggle.tsx)",
            "*.md: a document (README.md)",
        ],
        "unsure": None,
    }
    assert not (seat.home / "agent.db").exists()
    shown = seat.run("rehearse", "contract", "Fix it", "--files", "src/Card.tsx").out
    assert "verifiable: all of these must pass" in shown
    assert "when the group ends" in shown
    assert "because the files decide: work on code" in shown


def test_advice_goes_on_with_one_line_and_a_doubt_is_asked(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    advice = seat.run("rehearse", "contract", "-", stdin="Investigate slow API")
    doubt = seat.run("rehearse", "contract", "Look into the login bug")
    story = seat.run("rehearse", "contract", "Explore games", "--prd", "prd.md")
    wary = seat.run("rehearse", "contract", "Explore games", "--prompt-for-advisory")

    assert (advice.code, doubt.code, story.code, wary.code) == (0, 4, 4, 4)
    assert (
        "Advisory task detected: “Investigate slow API”. "
        "No automated verification: output will be logged for your review."
    ) in advice.out
    assert "Asks you Does “Look into the login bug” ask for a change" in doubt.out


def test_a_diff_and_rules_of_the_project_are_read(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    diff, rules = tmp_path / "work.diff", tmp_path / "activities.yml"
    diff.write_text(DIFF)
    rules.write_text('version: 1\nfiles:\n  "*.py": {critics: [style]}\n')
    words = ("Document the orders", "--diff", str(diff), "--rules", str(rules))
    said = seat.run("rehearse", "contract", *words, "--json")

    assert said.json["type"] == "verifiable"
    criteria = cast("list[JsonMap]", said.json["criteria"])
    critics = [each["pattern"] for each in criteria if each["activity"] == "critic"]
    assert critics == ["style", "sql"]


@for_each(
    ("words", "code", "sentence"),
    [
        (("x", "--diff", "nowhere.diff"), 3, "There is no file nowhere.diff."),
        (("x", "--diff", "."), 2, ". cannot be read: Is a directory."),
        (("x", "--rules", "bad.yml"), 2, "bad.yml, line 2: it has 'rulez'; known are"),
        (("",), 2, "text is empty; say in a few words what is to be done."),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    code: int,
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.yml").write_text("version: 1\nrulez: {}\n")
    said = Terminal(tmp_path).run("rehearse", "contract", *words)

    assert said.code == code
    assert sentence in said.err
