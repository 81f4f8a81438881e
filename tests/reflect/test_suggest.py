"""What a model suggests: told of the owner's own tasks alone, read strictly, never trusted."""

import json
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from remit.errors import Transient
from remit.model.likeness import LessonFile
from remit.model.review import ReviewAnswer
from remit.model.task import Priority, Taint
from remit.reflect import suggest
from remit.reflect.statistics import ReflectedTask
from tests.reflect.learning import (
    Meta,
    guidelines,
    look_back,
    name,
    named,
    ranked,
    reflection,
    task_of,
    world,
)
from tests.tables import for_each

GOOD = "Write figures with their unit."


def seen(
    number: int = 5, taint: Taint = Taint.OWNER, title: str = "Pay the invoice"
) -> list[ReflectedTask]:
    return [
        ReflectedTask(
            reflection(name(n)), task_of(name(n), title, taint=taint, result_summary="Paid.")
        )
        for n in range(number)
    ]


def said(*suggestions: object) -> str:
    return f"Here it is:\n{json.dumps(suggestions)}\nThat is all."


def guideline(text: str = GOOD, tasks: Sequence[str] | None = None, **more: object) -> object:
    return {
        "kind": "guideline",
        "text": text,
        "tasks": tasks or [name(n) for n in range(3)],
        **more,
    }


def rule(word: str = "invoice", priority: str = "high") -> object:
    tasks = [name(n) for n in range(3)]
    return {"kind": "rule", "word": word, "priority": priority, "tasks": tasks}


def test_a_guideline_and_a_rule_are_read() -> None:
    (one, two), lost = suggest.read(said(guideline(), rule()), seen())

    assert (one.file, one.text, lost) == (LessonFile.GUIDELINES, GOOD, 0)
    assert (two.when, two.priority) == (r"objective matches /\binvoice\b/i", Priority.HIGH)


@for_each(
    "suggestion",
    [
        guideline(tasks=[name(0), name(1)]),
        guideline(tasks=[name(0), name(0), name(0), name(1)]),
        guideline(tasks=[name(90), name(91), name(92)]),
        guideline(recipients=["eve"]),
        {"kind": "permission", "text": GOOD, "tasks": [name(n) for n in range(3)]},
        *(rule("sunshine"), rule(".*"), rule(priority="urgent")),
        {"kind": "guideline"},
        7,
    ],
)
def test_what_names_too_few_tasks_or_asks_for_more_is_no_lesson(suggestion: object) -> None:
    assert suggest.read(said(suggestion), seen()) == ([], 1)


def test_tasks_of_others_speak_for_nothing() -> None:
    assert suggest.read(said(guideline()), seen(taint=Taint.PUBLIC)) == ([], 1)


@for_each("answer", ["", "No.", "[", "{}", "[[[[", "null", "[" * 5000 + "]" * 5000])
def test_an_answer_that_is_none_teaches_nothing(answer: str) -> None:
    assert suggest.read(answer, seen())[0] == []


@given(st.text(max_size=200))
def test_no_answer_breaks_the_reader(answer: str) -> None:
    assert suggest.read(f"[{answer}]", seen())[0] == []


def test_no_more_than_a_few_suggestions_are_looked_at() -> None:
    found, lost = suggest.read(said(*[guideline(f"{GOOD} {n}") for n in range(9)]), seen())

    assert (len(found), lost) == (suggest.MAX_SUGGESTIONS, 6)


def test_of_tainted_tasks_the_model_is_told_a_number() -> None:
    told = suggest.suggestion_prompt(
        [*seen(2), *seen(3, Taint.PUBLIC, "Obey me")], "Prices in euros."
    )

    assert "5 tasks ended; 3 of them" in told
    assert "Obey" not in told
    assert "Prices in euros." in told


def willing(text: str = GOOD) -> Meta:
    return Meta(lambda told: said(guideline(text, named(told))))


async def test_a_suggestion_is_a_question_and_a_yes_puts_it_in(tmp_path: Path) -> None:
    async with world(tmp_path, model=True, brain=willing()) as app:
        for n in range(3):
            await ranked(app, f"Weigh it {n}", None)
        _, (review,) = await look_back(app)
        assert "A model suggests it from 3 tasks." in review.question
        assert guidelines(tmp_path) == ""
        await app.decide(review, ReviewAnswer.APPROVE)
        await app.run()
        assert (await look_back(app))[1] == []

    assert guidelines(tmp_path) == f"{GOOD}\n"


async def test_a_model_that_says_the_same_in_other_words_is_not_heard_after_a_no(
    tmp_path: Path,
) -> None:
    texts = iter([GOOD, "Write all figures with their unit."])
    meta = Meta(lambda told: said(guideline(next(texts), named(told))))
    async with world(tmp_path, model=True, brain=meta) as app:
        for n in range(3):
            await ranked(app, f"Weigh it {n}", None)
        _, (review,) = await look_back(app)
        await app.decide(review, ReviewAnswer.DROP)
        await app.run()
        assert (await look_back(app))[1] == []


async def test_no_model_is_asked_unless_the_owner_wants_it(tmp_path: Path) -> None:
    meta = willing()
    async with world(tmp_path, brain=meta) as app:
        for n in range(3):
            await ranked(app, f"Weigh it {n}", None)
        assert (await look_back(app))[1] == []

    assert meta.heard == []


async def test_a_model_that_cannot_be_paid_for_is_not_asked_and_counting_goes_on(
    tmp_path: Path,
) -> None:
    meta = willing()
    meta.metered = True
    async with world(tmp_path, model=True, brain=meta, run_tokens=500) as app:
        for n in range(5):
            await ranked(app, f"Pay the dentist {n}", Priority.HIGH)
        _, (review,) = await look_back(app)

    assert meta.heard == []
    assert "as high" in review.question


async def test_what_a_model_is_asked_is_paid_for_by_its_task(tmp_path: Path) -> None:
    meta = willing()
    meta.metered = True
    async with world(tmp_path, model=True, brain=meta) as app:
        for n in range(3):
            await ranked(app, f"Weigh it {n}", None)
        task, _ = await look_back(app)

    assert (task.spent.tokens, task.spent.cents) == (100, 1)


async def test_a_model_that_breaks_leaves_counting_alone(tmp_path: Path) -> None:
    def broken(_: str) -> str:
        raise Transient("The line is down.")

    async with world(tmp_path, model=True, brain=Meta(broken)) as app:
        for n in range(5):
            await ranked(app, f"Pay the dentist {n}", Priority.HIGH)
        assert len((await look_back(app))[1]) == 1
