"""A lesson in its file: the rest stays letter for letter, and the file is still right."""

from collections.abc import Callable
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit import reflect
from remit.errors import BadInput
from remit.model.contract import RankingRule
from remit.model.likeness import Lesson, LessonFile
from remit.model.task import Priority, Task
from remit.plan import priority, rank_task
from remit.reflect import versions as propose
from tests.reflect.learning import GUIDELINE, task_of
from tests.tables import for_each

INVOICE = Lesson(
    LessonFile.RULES,
    "learned-about-invoice",
    'You ranked 5 of 5 tasks about “invoice” as "high".',
    ("task-1",),
    r"objective matches /\binvoices\b/i",
    Priority.HIGH,
    "2026-03-02",
)
RULE = "{name: a, when: source is email, priority: low, because: b}"
SAID = Lesson(LessonFile.GUIDELINES, GUIDELINE, "because")


def test_a_rule_is_put_first_and_the_rest_stays_letter_for_letter() -> None:
    before = priority.packaged_text()
    after = propose.insert_lesson(INVOICE, before)
    old, new = priority.load_rules(before, "f"), priority.load_rules(after, "f")

    assert new.rules[0].name == "learned-about-invoice"
    assert new.rules[0].because.startswith("learned on 2026-03-02; You ranked 5 of 5")
    assert [(r.name, r.when.said, r.priority) for r in new.rules[1:]] == [
        (r.name, r.when.said, r.priority) for r in old.rules
    ]
    kept = [line for line in propose.diff(before, after, "f").splitlines() if line[:1] == "-"]
    assert kept == ["--- a/f"]


@for_each(
    "text",
    [
        "version: 1\nrules: []\ndefault: med\n",
        f"version: 1\nrules:  # mine\n- {RULE}\n",
        f"version: 1\r\nrules:\r\n  - {RULE}\r\n",
        "version: 1\nrules:",
    ],
)
def test_a_rule_goes_into_files_of_other_forms(text: str) -> None:
    found = priority.load_rules(propose.insert_lesson(INVOICE, text), "f")

    assert found.rules[0].name == "learned-about-invoice"
    assert (
        found.default
        is priority.load_rules(text if text[-1] == "\n" else f"{text} []", "f").default
    )


@for_each("text", ["", "version: 1\n", "version: 1\nrules: [{name: a}]\n"])
def test_a_file_that_cannot_take_a_rule_says_so(text: str) -> None:
    with pytest.raises(BadInput, match="rules:"):
        propose.insert_lesson(INVOICE, text)


def test_a_condition_that_is_there_is_not_put_in_twice_nor_a_name() -> None:
    once = propose.insert_lesson(INVOICE, priority.packaged_text())
    with pytest.raises(BadInput, match="already"):
        propose.insert_lesson(INVOICE, once)

    other = Lesson(
        LessonFile.RULES, INVOICE.text, "why", (), "source is email", Priority.LOW, "2026-03-03"
    )
    names = [
        rule.name for rule in priority.load_rules(propose.insert_lesson(other, once), "f").rules
    ]
    assert names[:2] == ["learned-about-invoice-2", "learned-about-invoice"]


@for_each("before", ["", "# a remark\n", "Be brief.", "Be brief.\n"])
def test_a_guideline_is_a_line_at_the_end(before: str) -> None:
    after = propose.insert_lesson(SAID, before)

    assert after.startswith(before)
    assert after.splitlines()[-1] == GUIDELINE
    with pytest.raises(BadInput, match="already"):
        propose.insert_lesson(SAID, after)


def test_a_guideline_that_only_differs_in_a_number_is_not_said_twice() -> None:
    fewer = Lesson(LessonFile.GUIDELINES, "Keep a message under 50 words.", "because")

    with pytest.raises(BadInput, match="nearly"):
        propose.insert_lesson(fewer, "Keep a message under 80 words.\n")


@given(st.text(alphabet="ab \n#:-", max_size=80))
def test_whatever_stands_in_the_guidelines_stays(before: str) -> None:
    assert propose.insert_lesson(SAID, before).startswith(before)


def ranker(text: str) -> Callable[[Task], Priority]:
    rules = priority.load_rules(text, "f")
    return lambda task: rank_task(task, rules, UTC).priority


def test_the_back_test_counts_what_would_change_and_what_the_owner_had_said() -> None:
    said = task_of("task-1", priority=Priority.HIGH, rule=RankingRule("owner", "said"))
    tasks = [said, task_of("task-2"), task_of("task-3", "Walk")]
    old, new = priority.packaged_text(), "version: 1\nrules: []\ndefault: low\n"

    assert reflect.run(tasks, ranker(old), ranker(new)).sentence == (
        "2 of 3 past tasks would change."
    )
    high = new.replace("low", "high")
    assert reflect.run(tasks, ranker(old), ranker(high)).sentence == (
        "3 of 3 past tasks would change, 1 to what you said yourself."
    )
