"""Everything that was asked is answered; where nobody can be sure, it is not verified."""

from remit.model.contract import Criterion, Evidence, Result
from remit.verify.written import CHECKS
from tests.tables import for_each
from tests.verify.written.cases import task_for
from tests.verify.written.desk import look

MUSEUM = "1. Find the opening hours\n2. the ticket price\n3. the address of the museum"
LIBRARY = (
    "1. Öffnungszeiten heraussuchen\n2. Jahresgebühr nachsehen\n3. ob man E-Books leihen kann\n"
    "4. nach Parkplätzen schauen"
)
OPEN = "Open 10 am to 6 pm."
PRICE = "Tickets are €14."
PLACE = "It is at 27 Quay Street."


async def test_who_answers_all_passes() -> None:
    found = await look("answers", f"{OPEN} {PRICE} {PLACE}", pattern=MUSEUM)

    assert found.result is Result.PASS


@for_each(
    ("said", "missing"),
    [
        (f"{OPEN} {PRICE}", "the address of the museum"),
        (f"The museum is lovely. {PLACE}", "Find the opening hours"),
    ],
)
async def test_what_was_left_out_is_named(said: str, missing: str) -> None:
    found = await look("answers", said, pattern=MUSEUM)

    assert found.result is Result.FAIL
    assert f"“{missing}”" in (found.error or "")


async def test_a_thing_that_only_its_name_could_answer_is_missed() -> None:
    three = "- 10 bis 18 Uhr geöffnet\n- Die Jahresgebühr ist 20 Euro\n- E-Books kann man leihen"

    left_out = await look("answers", three, pattern=LIBRARY)
    whole = await look("answers", f"{three}\n- Parkplätze sind hinter dem Haus", pattern=LIBRARY)

    assert "nach Parkplätzen schauen" in (left_out.error or "")
    assert whole.result is Result.PASS


async def test_what_could_be_an_answer_in_other_words_is_not_verified() -> None:
    asked = "1. a good restaurant for dinner\n2. the bus line"
    text = "Try Trattoria Roma, which has tables at half past seven. The bus line is 14."

    found = await look("answers", text, pattern=asked)

    assert found.result is Result.SKIPPED
    assert found.error == "not verified: perhaps not answered: a good restaurant for dinner"


async def test_an_answer_in_another_language_cannot_be_compared_word_by_word() -> None:
    asked = "1. when does the museum open and is it open on Sundays\n2. what does the ticket cost"
    text = "Das ist ein sehr schönes Haus und wir sind gern dort, aber es ist leider nicht billig."

    found = await look("answers", text, pattern=asked)

    assert found.result is Result.SKIPPED
    assert "another language" in (found.error or "")


async def test_without_a_pattern_the_clauses_of_the_request_are_asked() -> None:
    task = task_for("Find the phone number of the library, then check the price of a card")
    criterion = Criterion("answers", "all")

    found = await CHECKS["answers"].check(task, criterion, Evidence("A card is €20."))

    assert found.result is Result.FAIL
    assert "phone" in (found.error or "")


async def test_a_request_that_names_nothing_is_answered_by_anything() -> None:
    found = await look("answers", "Yes.", pattern="not a list")

    assert found.result is Result.PASS
    assert found.error == "nothing in the request could be told apart"
