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
THREE = "- 10 bis 18 Uhr geöffnet\n- Die Jahresgebühr ist 20 Euro\n- E-Books kann man leihen"


@for_each(
    ("asked", "text", "result", "error"),
    [
        (MUSEUM, f"{OPEN} {PRICE} {PLACE}", Result.PASS, ""),
        (MUSEUM, f"{OPEN} {PRICE}", Result.FAIL, "“the address of the museum”"),
        (MUSEUM, f"The museum is lovely. {PLACE}", Result.FAIL, "“Find the opening hours”"),
        # A thing that only its name could answer.
        (LIBRARY, THREE, Result.FAIL, "nach Parkplätzen schauen"),
        (LIBRARY, f"{THREE}\n- Parkplätze sind hinter dem Haus", Result.PASS, ""),
        # What could be an answer in other words, or in another language, is not verified.
        (
            "1. a good restaurant for dinner\n2. the bus line",
            "Try Trattoria Roma, which has tables at half past seven. The bus line is 14.",
            Result.SKIPPED,
            "not verified: perhaps not answered: a good restaurant for dinner",
        ),
        (
            "1. when does the museum open and is it open on Sundays\n2. what does the ticket cost",
            "Das ist ein sehr schönes Haus und wir sind gern dort, aber es ist nicht billig.",
            Result.SKIPPED,
            "another language",
        ),
        ("not a list", "Yes.", Result.PASS, "nothing in the request could be told apart"),
    ],
)
async def test_what_was_left_out_is_named_and_what_nobody_can_be_sure_of_is_not_verified(
    asked: str, text: str, result: Result, error: str
) -> None:
    found = await look("answers", text, pattern=asked)

    assert found.result is result
    assert error in (found.error or "")


async def test_without_a_pattern_the_clauses_of_the_request_are_asked() -> None:
    task = task_for("Find the phone number of the library, then check the price of a card")
    criterion = Criterion("answers", "all")

    found = await CHECKS["answers"].check(task, criterion, Evidence("A card is €20."))

    assert found.result is Result.FAIL
    assert "phone" in (found.error or "")
