"""What is named as a source was read, and what was read is not stale."""

from datetime import timedelta

from remit.model.contract import ReadSource, Result
from remit.verify.written import places
from tests.tables import for_each, table
from tests.verify.written.cases import NOW
from tests.verify.written.desk import look, page

ONE = page("Sanur is calm.", "https://www.bali.example/sanur")
TWO = page("Ubud is green.", "https://travel.lonelyroad.co.uk/ubud")
FILE = ReadSource("reports/q4-review.pdf", "Revenue rose.", NOW)
CALL = ReadSource("calendar.search(from=2026-03-02)", "Dentist", NOW)


@for_each(("text", "wanted"), table(__file__, "sources"))
async def test_sources_that_were_read_are_counted_however_they_are_named(
    text: str, wanted: str
) -> None:
    linked = page("Book: https://hotel.example/now", "https://guide.example")

    found = await look("sources", text, ONE, TWO, FILE, CALL, linked, pattern=wanted)

    assert found.result is Result.PASS, found.error


async def test_two_pages_of_one_site_are_one_source() -> None:
    more = page("Kuta is loud.", "https://bali.example/kuta")
    text = "Calm: https://www.bali.example/sanur, loud: https://bali.example/kuta"

    found = await look("sources", text, ONE, more, pattern="2")

    assert found.error == "1 of the sources that were read are named, not 2"


@for_each("text", table(__file__, "no_sources"))
async def test_what_was_not_read_is_no_source(text: str) -> None:
    linked = page("Book: https://hotel.example/now", "https://bali.example")

    found = await look("sources", text, linked, pattern="0")

    assert found.result is Result.FAIL
    assert "was not read" in (found.error or "")


def test_a_site_belongs_to_who_registered_its_name() -> None:
    assert places.site("https://a.b.example.co.uk/x") == "example.co.uk"
    assert places.site("https://anna.github.io") == "anna.github.io"
    assert places.site("http://www.town.example:8080/a") == "town.example"


@for_each("activity", ["sources", "fresh"])
async def test_a_pattern_that_is_no_number_is_refused(activity: str) -> None:
    found = await look(activity, "x", ONE, pattern="many")

    assert found.result is Result.FAIL
    assert "must be a number" in (found.error or "")


@for_each("stamp", table(__file__, "old"))
async def test_a_page_that_says_it_is_old_makes_a_text_stale(stamp: str) -> None:
    old = page(f"{stamp} Gold 2,914.30", "https://metals.example/archive")

    found = await look("fresh", "Gold is at 2,914.30.", old, pattern="2")

    assert found.result is Result.FAIL
    assert "2025-11-14" in (found.error or "")


OLD = page("Published 14 November 2025. Gold 1,800", "https://metals.example/archive")
NEW = page("Published 2 March 2026. Gold 2,914.30", "https://spot.example")
THEN = page("Gold 1,800", at=NOW - timedelta(days=30))
UNDATED = ReadSource("notes.txt", "calm", None)


@for_each(
    ("text", "read", "result", "note"),
    [
        ("Gold is at 1,800.", (OLD, NEW), Result.FAIL, "2025-11-14"),
        ("Gold is at 2,914.30.", (OLD, NEW), Result.PASS, ""),  # the old one was not used
        # A page without a date is as fresh as its reading.
        ("1,800", (page("Gold 1,800"),), Result.PASS, ""),
        ("1,800", (THEN, page("x")), Result.FAIL, ""),
        ("Gold is at 1,800.", (), Result.FAIL, ""),  # nothing was read
        ("Calm.", (UNDATED,), Result.PASS, "nothing that was read says how old it is"),
    ],
)
async def test_what_was_used_must_be_fresh(
    text: str, read: tuple[ReadSource, ...], result: Result, note: str
) -> None:
    found = await look("fresh", text, *read, pattern="2")

    assert found.result is result
    assert note in (found.error or "")
