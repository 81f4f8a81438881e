"""The rules in force, over HTTP and on the settings page; nothing is changed there."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from remit.model.codec import JsonMap
from tests.server.served import Served

MINE = """\
version: 1
lists:
  banks: [bank.example]
  empty: []
rules:
  - name: "<b>bold</b>"
    when: {all: [sender_domain in banks, llm_score >= 0.5]}
    priority: critical
    because: money & more
default: med
"""


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path, works=True) as served:
        yield served


def put(folder: Path, text: str) -> None:
    (folder / "rules").mkdir(exist_ok=True)
    (folder / "rules/new").write_text(text)
    (folder / "rules/new").rename(folder / "rules/priority.yml")


def test_programs_are_told_the_rules_in_force_and_what_is_wrong(
    own: Served, tmp_path: Path
) -> None:
    ours = own.get("/api/priority-rules")
    put(tmp_path, MINE)
    mine = own.get("/api/priority-rules")
    put(tmp_path, MINE.replace("0.5", "5"))
    wrong = own.get("/api/priority-rules")

    assert (ours["file"], ours["complaint"]) == (None, None)
    assert [each["name"] for each in cast("list[JsonMap]", ours["rules"])] == [
        "finance",
        "invoice",
        "llm_score",
    ]
    assert mine == {
        "file": "rules/priority.yml",
        "complaint": None,
        "lists": {"banks": ["bank.example"], "empty": []},
        "default": "med",
        "rules": [
            {
                "name": "<b>bold</b>",
                "line": 6,
                "when": "all of (sender_domain in banks; llm_score >= 0.5)",
                "priority": "critical",
                "because": "money & more",
            }
        ],
    }
    assert str(wrong["complaint"]).startswith("rules/priority.yml, line 7: it is 'llm_score >= 5'")
    assert wrong == mine | {"complaint": wrong["complaint"]}


def test_a_page_shows_them_and_complains_without_a_script(own: Served, tmp_path: Path) -> None:
    put(tmp_path, MINE)
    seen = own.look("/settings/priority").text
    put(tmp_path, "version: 2")
    wrong = own.look("/settings/priority").text

    for text in (
        "<b>&lt;b&gt;bold&lt;/b&gt;</b> · critical",
        "<b>default</b> · med",
        "all of (sender_domain in banks; llm_score &gt;= 0.5)",
        "No model is asked for a score",
        "nothing yet",
    ):
        assert text in seen
    assert 'role="alert"' not in seen
    assert "line 1: it must say version: 1. The rules from before hold." in wrong
    assert "money &amp; more" in wrong
