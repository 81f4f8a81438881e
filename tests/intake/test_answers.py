"""What the owner answers is read whole, with what he said before, or not at all."""

from datetime import datetime

from remit.intake import answers
from remit.language.time.resolve import Moment, Now, Recurrence, TimeDoubt, When
from tests.intake.labelled import BOOK, NOW, ZONE
from tests.tables import for_each


def read(answer: str, said: str = "") -> tuple[When, ...] | None:
    return answers.when(answer, said, now=NOW, zone=ZONE)


@for_each(
    ("said", "answer", "at"),
    [
        ("", "tomorrow at 9", "2026-03-05T09:00"),
        ("", "in two hours", "2026-03-04T12:00"),
        ("", "Friday 06 March at 9", "2026-03-06T09:00"),
        ("", "Tomorrow at 9:30, please.", "2026-03-05T09:30"),
        ("tomorrow", "9:30", "2026-03-05T09:30"),
        ("tomorrow", "at 9", "2026-03-05T09:00"),
        ("tomorrow", "17", "2026-03-05T17:00"),
        ("morgen", "um 9 Uhr", "2026-03-05T09:00"),
        ("morgen", "halb zehn", "2026-03-05T09:30"),
        ("mañana", "a las 9", "2026-03-05T09:00"),
        ("tomorrow evening", "8", "2026-03-05T20:00"),
        ("tomorrow at 5", "17:00", "2026-03-05T17:00"),
        ("tomorrow at 5", "in the afternoon", "2026-03-05T17:00"),
        ("at 8", "tomorrow at 08:00", "2026-03-05T08:00"),
        ("at 8", "tomorrow", "2026-03-05T08:00"),
        ("next Friday at 9", "Friday 13 March", "2026-03-13T09:00"),
        ("tomorrow at 3pm", "when to remind", "2026-03-05T15:00"),
        ("tomorrow at 9 New York time", "at 10", "2026-03-05T16:00"),
    ],
)
def test_an_answer_adds_to_what_was_said(said: str, answer: str, at: str) -> None:
    found = read(answer, said)

    assert found is not None
    (when,) = found
    assert isinstance(when, Moment), when
    assert when.at == datetime.fromisoformat(at).replace(tzinfo=ZONE)


def test_an_answer_may_make_it_now_or_again_and_again() -> None:
    assert read("now") == (Now(),)
    assert read("sofort") == (Now(),)
    for answer, said in (("every Monday at 9", ""), ("at 9", "every Monday")):
        found = read(answer, said)
        assert found is not None
        assert isinstance(found[0], Recurrence)
        assert found[0].rule == "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0"


def test_a_series_keeps_the_end_that_was_said_or_gets_the_one_answered() -> None:
    end = "UNTIL=20260331T215959Z"
    answered = read("until the end of March", "every day at 9")
    kept = answers.when(
        "at 9", "every morning", now=NOW, zone=ZONE, elsewhere=["until the end of March"]
    )

    for found in (answered, kept):
        assert found is not None
        assert isinstance(found[0], Recurrence)
        assert found[0].rule == f"FREQ=DAILY;BYHOUR=9;BYMINUTE=0;{end}"


@for_each("answer", ["at 8", "yesterday at 9", "today at 7:00"])
def test_a_time_that_has_passed_is_a_doubt(answer: str) -> None:
    found = read(answer)

    assert found is None or isinstance(found[0], TimeDoubt)


@for_each(
    "answer",
    [
        "soon",
        "when you like",
        "tomorrow at 9 if it rains",
        "tomorrow at 9 and call Bob",
        "Bob",
        "",
        "??",
        "Friday 7 March at 9",  # a Saturday
        "tomorrow " * 100,
    ],
)
def test_an_answer_that_is_not_all_time_is_no_time(answer: str) -> None:
    assert read(answer, "tomorrow") is None


def test_a_doubtful_zone_is_settled_by_its_name() -> None:
    found = read("America/Chicago", "tomorrow at 3pm CST")

    assert found is not None
    assert isinstance(found[0], Moment)
    assert found[0].at.hour == 21


@for_each(
    ("answer", "people", "channels"),
    [
        ("Bob", ["Bob"], []),
        ("to Bob, please", ["Bob"], []),
        ("me", ["Hanan"], []),
        ("an mich", ["Hanan"], []),
        ("a María José", ["María José"], []),
        ("Anna Weber", ["Anna Weber"], []),
        ("Bob by email", ["Bob"], ["email"]),
        ("Bob by email and Carlos on WhatsApp", ["Bob", "Carlos"], ["email", "whatsapp"]),
        ("per Mail", [], ["email"]),
        ("whatsapp", [], ["whatsapp"]),
    ],
)
def test_people_and_channels_are_named_in_any_order(
    answer: str, people: list[str], channels: list[str]
) -> None:
    found = answers.find_recipients(answer, BOOK)

    assert found is not None
    assert [person.name for person in found.people] == people
    assert [channel.name for channel in found.channels] == channels
    assert found.doubt is None


@for_each("answer", ["Zoltan", "Bob Miller", "the neighbour", "bob@example.org"])
def test_a_name_that_nobody_knows_is_never_passed_over(answer: str) -> None:
    found = answers.find_recipients(answer, BOOK)

    assert found is None or not found.people


def test_one_name_of_two_people_stays_a_doubt() -> None:
    found = answers.find_recipients("Anna", BOOK)

    assert found is not None
    assert found.doubt is not None
    assert found.doubt.options == ("Anna Schmidt", "Anna Weber")


@for_each(
    "answer",
    ["leave it out", "Leave it out.", "Weglassen!", "lass es weg", "Déjalo", "olvídalo", "skip it"],
)
def test_a_clause_can_be_left_out_in_three_languages(answer: str) -> None:
    assert answers.is_left_out(answer)


@for_each("answer", ["leave it out of the report", "skip the meeting", "lassen", ""])
def test_words_that_go_on_leave_nothing_out(answer: str) -> None:
    assert not answers.is_left_out(answer)


def test_a_text_in_quotation_marks_is_kept_to_the_letter() -> None:
    assert answers.letter('"See  you\tat 5 🙂"') == "See  you\tat 5 🙂"
    assert answers.letter("See you at 5") is None
    assert answers.letter('say "hi" to him') is None
