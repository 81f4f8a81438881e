"""The criteria of a text, from the owner's words: what they say, and nothing that they do not."""

import re

import pytest

from remit.language.order_words import language_names
from remit.model.contract import Clause, ClauseOutcome
from remit.plan import written as plan_items
from remit.plan.written import NAMED_LANGUAGES, criteria, split_items
from tests.tables import for_each, table

ALWAYS = {"request", "no-placeholder", "no-padding"}


def made(ask: str, *channels: str, can_read: bool = False) -> dict[str, str | None]:
    """The criteria by activity; of two with one name the first."""
    found: dict[str, str | None] = {}
    for each in criteria(ask, (), channels, can_read=can_read):
        found.setdefault(each.activity, each.pattern)
    return {activity: pattern for activity, pattern in found.items() if activity not in ALWAYS}


@for_each(("ask", "code"), table(__file__, "language"))
def test_the_language_is_the_one_that_is_asked_for(ask: str, code: str | None) -> None:
    assert made(ask).get("language") == code


def test_every_language_that_can_be_asked_for_can_be_checked() -> None:
    assert dict(NAMED_LANGUAGES.values()) == dict(language_names())


@for_each(("ask", "pattern"), table(__file__, "length"))
def test_the_length_is_the_one_that_is_asked_for(ask: str, pattern: str | None) -> None:
    assert made(ask).get("length") == pattern


@for_each(("ask", "pattern"), table(__file__, "sources"))
def test_sources_are_counted_where_they_are_asked_for(ask: str, pattern: str | None) -> None:
    assert made(ask, can_read=True).get("sources") == pattern
    assert "sources" not in made(ask)


@for_each(("ask", "grounded"), table(__file__, "facts"))
def test_figures_must_stand_somewhere_only_where_facts_are_asked_for(
    ask: str, *, grounded: bool
) -> None:
    assert ("grounded" in made(ask, can_read=True)) is grounded
    assert "grounded" not in made(ask)


@for_each(("ask", "days"), table(__file__, "fresh"))
def test_what_is_asked_for_as_of_now_must_be_fresh(ask: str, days: str | None) -> None:
    assert made(ask, can_read=True).get("fresh") == days


@for_each(("ask", "channels", "pattern"), table(__file__, "form"))
def test_the_form_is_what_was_asked_for_and_what_the_reader_can_read(
    ask: str, channels: tuple[str, ...], pattern: str | None
) -> None:
    assert made(ask, *channels).get("form") == pattern


def test_what_is_always_wrong_is_always_looked_for() -> None:
    found = criteria("Hello", (), (), can_read=False)

    assert {each.activity for each in found} == ALWAYS
    assert all(each.description for each in found)
    assert made('Write a letter and mention "Sanur beach".')["mentions"] == "Sanur beach"
    # A table that is asked for may go where tables are hard to read.
    tabled = criteria("Send it as a table", (), ("whatsapp",), can_read=False)
    assert [each.pattern for each in tabled if each.activity == "form"] == ["table", "no-html"]


@for_each(("ask", "number"), table(__file__, "items"))
def test_a_request_falls_into_the_things_it_asks_for(ask: str, number: int) -> None:
    found = split_items(ask, ())

    assert len(found) == number, found
    assert ("answers" in made(ask)) is (number > 1)


def test_the_clauses_that_became_work_are_asked_and_no_others() -> None:
    clauses = (
        Clause("check flight prices", 0, 19, ClauseOutcome.WORK),
        Clause("send it to me", 24, 37, ClauseOutcome.DELIVERY),
        Clause("find a hotel", 42, 54, ClauseOutcome.WORK),
    )

    found = criteria(
        "check flight prices and send it to me and find a hotel", clauses, (), can_read=False
    )

    assert found[0].pattern == "1. check flight prices\n2. find a hotel"
    assert found[0].description == "All 2 things that were asked are answered"


@pytest.mark.parametrize("word", ["alpha, ", "price, ", "x and ", "the fee, ", "about pets, "])
def test_each_thing_of_a_long_list_is_looked_at_a_fixed_number_of_times(
    word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0

    class Counted:
        def __init__(self, shape: re.Pattern[str]) -> None:
            self._shape = shape

        def search(self, text: str) -> re.Match[str] | None:
            nonlocal looked
            looked += 1
            return self._shape.search(text)

    for name in ("_FACT", "_OWN", "_ABOUT"):
        monkeypatch.setattr(plan_items, name, Counted(getattr(plan_items, name)))
    split_items("Find out about " + word * 2_000, ())

    assert looked < 6 * 2_000


@for_each("text", ["7" * 99_000, "word " * 19_000, " " * 99_000, "rechne " * 14_000])
def test_no_request_of_the_longest_kind_stalls(text: str) -> None:
    assert criteria(f"Find {text}", (), ("email",), can_read=True)
