"""A request by mail is what its writer asks for: no signature is work, no request is lost."""

import textwrap
from typing import Final

from remit.channels.mail import signatures
from remit.language.order_words import asks_for_work
from tests.tables import for_each, table

ASK: Final = "Send Bert the plan for the house."
SIGNED: Final = table(__file__, "signatures")


@for_each("signature", SIGNED)
def test_a_signature_is_no_request(signature: str) -> None:
    assert signatures.read_request((ASK + signature,), "Hanan", asks_for_work) == ASK


@for_each("text", ["Sent from my iPhone", "Get Outlook for iOS", "-- \nHanan"])
def test_a_mail_of_a_signature_alone_asks_for_nothing(text: str) -> None:
    assert signatures.read_request((text,), "Hanan", asks_for_work) == ""


@for_each("text", table(__file__, "requests"))
def test_a_request_is_never_taken_for_a_signature(text: str) -> None:
    assert signatures.read_request((text,), "Hanan", asks_for_work) == text


def test_what_stands_below_the_name_and_asks_for_work_is_kept() -> None:
    text = f"{ASK}\n\nThanks,\nHanan\n\nBuy milk as well."
    assert "Buy milk as well." in signatures.read_request((text,), "Hanan", asks_for_work)


LONG: Final = (
    "Write a short summary of the three offers that came in this week and send it to Bert by "
    "post, with the cheapest one first and the delivery dates of each of them below."
)


def test_a_line_of_a_small_letter_that_begins_with_a_name_goes_on() -> None:
    broken = (
        "Write me a short text about cranes in the\nHula valley, what they eat in winter and\n"
        "when they leave for the north again."
    )
    found = signatures.read_request((broken,), "Hanan", asks_for_work)
    assert found == broken.replace("\n", " ")


@for_each("width", [42, 48, 65, 72, 76, 78])
def test_lines_that_a_program_broke_are_one_request(width: int) -> None:
    wrapped = "\n".join(textwrap.wrap(LONG, width))
    assert wrapped.count("\n") > 0
    assert signatures.read_request((wrapped,), "Hanan", asks_for_work) == LONG


@for_each("text", table(__file__, "broken_by_the_writer"))
def test_lines_that_the_writer_broke_stay_apart(text: str) -> None:
    assert signatures.read_request((text,), "Hanan", asks_for_work) == text
