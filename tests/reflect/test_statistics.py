"""What counting finds: four of five, at least five; words come from the owner's titles alone."""

from collections.abc import Sequence
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from remit.model.contract import RankingRule
from remit.model.ids import SeriesId
from remit.model.likeness import Lesson, LessonFile
from remit.model.task import Priority, Source, SourceKind, Taint, Task
from remit.reflect import harvest, statistics, suggest
from remit.reflect.harvest import (
    BULLETS,
    CLOSING,
    EMOJI,
    EXCLAMATION,
    GREETING,
    HEADINGS,
    ShownMessage,
)
from remit.reflect.statistics import LATE, MIN_CASES, ReflectedTask
from tests.reflect.learning import GUIDELINE, name, reflection, task_of
from tests.tables import for_each

EDITED: Final = ShownMessage((GREETING,), (), 20, 18, edited=True)
AS_IT_WAS: Final = ShownMessage((GREETING,), (GREETING,), 20, 20, edited=False)
SERIES: Final = SeriesId("ser-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA")
MINE: Final = RankingRule("owner", "the owner said so")


def count(seen: Sequence[ReflectedTask], level: Priority = Priority.LOW) -> tuple[Lesson, ...]:
    return statistics.count(seen, lambda _: level, lambda _: None).lessons


def shown(*messages: ShownMessage) -> list[ReflectedTask]:
    return [
        ReflectedTask(reflection(name(n), shown=(each,)), task_of(name(n), f"Nr {n}"))
        for n, each in enumerate(messages)
    ]


def those(number: int, title: str = "Pay the invoice", /, **more: object) -> list[ReflectedTask]:
    line = {key: more.pop(key) for key in ("declined", "late") if key in more}
    return [
        ReflectedTask(reflection(name(n), **line), task_of(name(n), title, **more))
        for n in range(number)
    ]


@for_each(
    ("edited", "kept", "found"),
    [(MIN_CASES, 0, True), (MIN_CASES - 1, 0, False), (8, 2, True), (7, 3, False)],
)
def test_what_is_taken_out_four_times_of_five_is_a_guideline(
    edited: int, kept: int, found: bool
) -> None:
    lessons = count(shown(*[EDITED] * edited, *[AS_IT_WAS] * kept))

    assert [each.text for each in lessons] == ([GUIDELINE] if found else [])
    if found:
        assert f"{edited} of {edited + kept}" in lessons[0].why
        assert lessons[0].tasks == tuple(name(n) for n in range(edited))[-10:]


def test_messages_that_never_had_a_greeting_do_not_count() -> None:
    without = ShownMessage((), (), 20, 20, edited=False)

    assert len(count(shown(*[EDITED] * MIN_CASES, *[without] * 20))) == 1


def test_messages_that_are_always_cut_short_are_to_be_shorter() -> None:
    (lesson,) = count(
        shown(*[ShownMessage((), (), 100, words, edited=True) for words in (30, 41, 35, 28, 33)])
    )

    assert lesson.text == "Keep a message under 50 words."


RAISED: Final[dict[str, object]] = {"priority": Priority.HIGH, "rule": MINE}
OTHERS: Final = [ReflectedTask(reflection(name(n)), task_of(name(n))) for n in (50, 51)]
MAIL: Final = Source(SourceKind.EMAIL, "1")
WORD, OF_SERIES = r"objective matches /\binvoice\b/i", f"series is {SERIES}"


@for_each(
    ("seen", "level", "when", "becomes"),
    [
        (those(MIN_CASES, **RAISED), Priority.LOW, WORD, Priority.HIGH),
        (those(MIN_CASES, **RAISED), Priority.HIGH, None, None),  # the rules say so already
        ([*those(MIN_CASES, **RAISED), *OTHERS], Priority.LOW, None, None),  # of other tasks, too
        (those(MIN_CASES, series_id=SERIES, **RAISED), Priority.LOW, OF_SERIES, Priority.HIGH),
        (those(MIN_CASES, declined=True), Priority.MED, WORD, Priority.LOW),
        (those(MIN_CASES, late=LATE, series_id=SERIES), Priority.MED, OF_SERIES, Priority.HIGH),
        (those(MIN_CASES, late=LATE - 1, series_id=SERIES), Priority.LOW, None, None),
        (those(MIN_CASES, late=None, series_id=SERIES), Priority.LOW, None, None),
        (those(MIN_CASES, late=LATE, series_id=SERIES), Priority.CRITICAL, None, None),
    ],
)
def test_what_always_happens_to_tasks_is_one_rule_about_their_word_or_series(
    seen: list[ReflectedTask], level: Priority, when: str | None, becomes: Priority
) -> None:
    found = count(seen, level)

    rule = (LessonFile.RULES, when, becomes)
    assert [(each.file, each.when, each.priority) for each in found] == ([rule] if when else [])
    assert all("5 of 5" in each.why for each in found)
    assert all("invoice" in each.why.casefold() for each in found)


@for_each(
    ("more", "when"),
    [
        ({"taint": Taint.CONTACT}, None),
        ({"taint": Taint.PUBLIC}, None),
        ({"taint": Taint.PUBLIC, "source": MAIL}, "source is email"),
        ({"taint": Taint.PUBLIC, "series_id": SERIES}, OF_SERIES),
    ],
)
def test_no_word_of_a_tainted_task_is_in_a_rule(more: dict[str, object], when: str | None) -> None:
    found = count(those(9, **RAISED, **more))

    assert [each.when for each in found] == ([when] if when else [])
    assert all("invoice" not in f"{each.text} {each.why}" for each in found)


def test_a_sender_whom_the_owner_knows_is_a_rule_about_his_domain() -> None:
    seen = those(MIN_CASES, priority=Priority.CRITICAL, rule=MINE, taint=Taint.CONTACT)
    known = statistics.count(seen, lambda _: Priority.LOW, lambda _: "bank.example").lessons

    assert [each.when for each in known] == ["sender_domain is bank.example"]


def test_what_is_always_declined_and_low_already_is_only_told() -> None:
    told = statistics.count(those(MIN_CASES, declined=True), lambda _: Priority.LOW, lambda _: None)

    assert told.lessons == ()
    assert "declined 5 of 5" in told.remarks[0]


def test_every_lesson_that_is_counted_passes_the_screen() -> None:
    def domain(_: Task) -> str:
        return "bank.example"

    seen = [*shown(*[EDITED] * MIN_CASES), *those(MIN_CASES, priority=Priority.HIGH, rule=MINE)]
    seen += those(MIN_CASES, "x", late=LATE, series_id=SERIES)
    found = statistics.count(seen, lambda _: Priority.LOW, domain).lessons

    assert found
    assert [suggest.objection(each) for each in found] == [None] * len(found)


# What stands in a text ----------------------------------------------------------------------------

KINDS = (GREETING, CLOSING, BULLETS, HEADINGS, EMOJI, EXCLAMATION)


@for_each(
    ("text", "kinds"),
    [
        ("Dear Anna,\n\nit rains.\n\nBest wishes\nHanan", (GREETING, CLOSING)),
        ("Hi Anna, it rains again in the whole of the north and it will for days.", (GREETING,)),
        ("Liebe Anna,\nes regnet.\nViele Grüße", (GREETING, CLOSING)),
        ("Hola Anna:\nllueve.\nSaludos", (GREETING, CLOSING)),
        ("Sehr geehrte Frau Weber,\nes regnet.", (GREETING,)),
        ("It rains.", ()),
        ("Highlands are wet.\nThey always are.", ()),
        ("Best of all: it rains.", ()),
        ("- one\n- two", (BULLETS,)),
        ("1. one\n2. two", (BULLETS,)),
        ("- one alone", ()),
        ("# Weather\nIt rains.", (HEADINGS,)),
        ("It rains 🌧", (EMOJI,)),
        ("It rains!", (EXCLAMATION,)),
        ("", ()),
    ],
)
def test_what_stands_in_a_text_is_told_by_its_kind(text: str, kinds: tuple[str, ...]) -> None:
    assert harvest.kinds(text) == kinds


def test_words_are_counted_as_people_count_them() -> None:
    assert harvest.count("It's a well-known beach, isn't it?") == 6


@given(st.text(max_size=400))
def test_nothing_but_kinds_comes_out_of_a_text(text: str) -> None:
    assert set(harvest.kinds(text)) <= set(KINDS)
    assert harvest.count(text) <= len(text)
