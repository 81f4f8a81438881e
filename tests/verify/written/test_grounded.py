"""Figures are found in whatever spelling they were read, and what was made up is not."""

from datetime import date, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from remit.model.contract import Result
from remit.verify.written.figures import AmountFigure, DateFigure, find_figures
from remit.verify.written.source_figures import SourceFigures
from tests.soak import one_in
from tests.tables import for_each, table
from tests.verify.written.desk import look, page


@for_each(("told", "read"), table(__file__, "same"))
async def test_a_figure_is_the_same_in_another_spelling(told: str, read: str) -> None:
    found = await look("grounded", told, page(read))

    assert found.result is Result.PASS, found.error


@for_each(("told", "read"), table(__file__, "made_up"))
async def test_a_figure_that_stands_nowhere_is_named(told: str, read: str) -> None:
    found = await look("grounded", told, page(read, "notes.txt"))

    assert found.result is Result.FAIL
    assert "neither in what was read nor in the request" in (found.error or "")


ROWS = "- Zelt 420 €\n- Band 500 €\n- Plakate 61,40 €\n"
REAL = st.integers(min_value=1, max_value=99_999_999)


@given(REAL, st.integers(0, 99), st.sampled_from(["€{}", "{} EUR", "{}"]))
def test_any_amount_is_known_in_both_ways_to_write_it(whole: int, cents: int, form: str) -> None:
    english = form.format(f"{whole:,}.{cents:02d}")
    german = f"{whole:,}".replace(",", ".") + f",{cents:02d} €"

    for told, read in ((english, german), (german, english)):
        sources = SourceFigures([read])
        amounts = [each for each in find_figures(told) if isinstance(each, AmountFigure)]
        assert len(amounts) == 1
        assert sources.has(amounts[0])


@given(REAL, REAL)
def test_another_amount_is_not_taken_for_it(told: int, read: int) -> None:
    assume(told != read)
    # 78,745 told as 79,000 is rounded; what is told to the last digit must be it.
    assume(told % 10)

    (figure,) = find_figures(f"{told} €")

    assert not SourceFigures([f"{read} €"]).has(figure)


DAYS = st.dates(min_value=date(1990, 1, 1), max_value=date(2060, 12, 31))
SPELLINGS = ("{0:%Y-%m-%d}", "{0.day} {0:%B} {0.year}", "{0:%B} {0.day}, {0.year}", "{0:%d.%m.%Y}")


@given(DAYS, st.sampled_from(SPELLINGS), st.sampled_from(SPELLINGS), st.integers(1, 400))
def test_any_day_is_known_in_any_spelling_and_no_other(
    day: date, told: str, read: str, off: int
) -> None:
    sources = SourceFigures([read.format(day)])
    (same,) = find_figures(told.format(day))
    (other,) = find_figures(told.format(day + timedelta(days=off)))

    assert isinstance(same, DateFigure)
    assert sources.has(same)
    assert not sources.has(other)


@given(st.text(max_size=300))
def test_whatever_is_written_can_be_looked_at(text: str) -> None:
    SourceFigures([text])
    found = list(find_figures(text))

    assert found == sorted(found, key=lambda each: each.at)


@for_each(
    ("ask", "text", "read", "error"),
    [
        # What the owner said needs no source; days that he spoke of may be told as dates.
        ("Book for 12 at 7:30 pm", "The table for 12 is at 19:30.", "", None),
        ("What is on this Friday?", "On Friday, 6 March, there is nothing.", "", None),
        ("What is on this Friday?", "On Friday, 24 April, there is nothing.", "", "24 April"),
        # The numbers of lists, steps and scales are no figures.
        ("x", "## 1. Plan\n1. Step 2 of it\n2. Option 3\n\nSee [4]. There are 2 tips.", "", None),
        # A number is reckoned only where the text says that it reckons.
        (
            "x",
            "Adults 14 €, children 9 €. Guide: 23 €",
            "Adults 14 €, children 9 €",
            "“23 €” stands neither in what was read nor in the request",
        ),
        (
            "x",
            "31 €, 32 €, 33 €, 34 €, 35 €",
            "nothing",
            "“31 €”, “32 €”, “33 €” and 2 more stand neither in what was read nor in the request",
        ),
        ("x", "x" * 100_001, "", ""),  # too long to look up
        ("x", f"{ROWS}Zusammen 981,40 €", ROWS, None),  # a total is added up again
        ("x", f"{ROWS}Zusammen 991,40 €", ROWS, "991,40"),
    ],
)
async def test_a_figure_needs_a_source_or_a_reckoning(
    ask: str, text: str, read: str, error: str | None
) -> None:
    found = await look("grounded", text, page(read), ask=ask)

    assert found.result is (Result.PASS if error is None else Result.FAIL), found.error
    assert (error or "") in (found.error or "")


@for_each(
    ("right", "wrong"),
    [
        ("Rent rose from 11.50 to 14.49, up 26 %.", "Rent rose from 11.50 to 14.49, up 36 %."),
        ("11.50 and 14.49: a difference of 2.99.", "11.50 and 14.49: a difference of 3.99."),
        ("4 × 11.50 = 46.", "4 × 11.50 = 56."),
        ("It was founded in 1978, 48 years ago.", "It was founded in 1978, 58 years ago."),
    ],
)
async def test_what_follows_from_what_is_told_is_worked_out_again(right: str, wrong: str) -> None:
    read = page("1978: 4 of them. Then 11,50 and now 14,49.")

    assert (await look("grounded", right, read)).result is Result.PASS
    assert (await look("grounded", wrong, read)).result is Result.FAIL


HOSTILE = ("1.1.", "1 ", "[", "<a ", "{{", "0 (0 ", "a. ", "Source: ", "x@", "1:", "9", "1,")


@one_in(4)
@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("activity", ["answers", "sources", "fresh", "no-placeholder", "grounded"])
@pytest.mark.timeout(60)
async def test_a_text_that_is_made_to_be_slow_is_read_in_time(activity: str, piece: str) -> None:
    text = piece * (8_000 // len(piece))
    pattern = {"sources": "1", "fresh": "7", "answers": "1. price\n2. food"}.get(activity)

    await look(activity, text, page(text), pattern=pattern)
