"""Who wrote a mail: only the owner's own server is believed, and only in its first word on it."""

from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from remit.channels.mail import sender_authentication
from remit.channels.mail.sender_authentication import VerifiedSender
from tests.tables import for_each, table

US: Final = "mx.example.org"
GOOD: Final = (
    f"{US}; dkim=pass header.d=bank.example; dmarc=pass (p=REJECT) header.from=bank.example"
)
BANK: Final = "Bank <info@bank.example>"


def test_what_our_server_vouches_for_is_verified() -> None:
    assert sender_authentication.sender([BANK], [GOOD], US) == VerifiedSender(
        "info@bank.example", verified=True
    )
    spaced = f"\r\n {US.upper()} 1 ;\r\n\tDMARC=PASS action=none header.From=Bank.Example"
    found = sender_authentication.sender(["INFO@BANK.EXAMPLE"], [spaced], US)
    assert found == VerifiedSender("info@bank.example", verified=True)


@for_each("results", table(__file__, "forged"))
def test_a_forged_word_verifies_nobody(results: list[str]) -> None:
    found = sender_authentication.sender([BANK], results, US)
    assert found is not None
    assert not found.verified


MICROSOFT: Final = (
    "spf=pass (sender IP is 192.0.2.1) smtp.mailfrom=bank.example; dkim=pass (signature was "
    "verified) header.d=bank.example;dmarc=pass action=none header.from=bank.example;"
    "compauth=pass reason=100"
)
PROVIDERS: Final = table(__file__, "providers")


@for_each(("named", "results"), PROVIDERS)
def test_what_providers_really_write_is_understood(named: str, results: list[str]) -> None:
    found = sender_authentication.sender([BANK], results, named)
    assert found == VerifiedSender("info@bank.example", verified=True)
    stranger = sender_authentication.sender(["Eve <eve@evil.example>"], results, named)
    assert stranger is not None
    assert not stranger.verified


@for_each(("named", "results", "why"), table(__file__, "why_not"))
def test_why_a_mail_is_not_believed_is_said_with_the_setting_that_would_help(
    named: str, results: list[str], why: str
) -> None:
    found = sender_authentication.sender([BANK], results, named)
    assert found is not None
    assert not found.verified
    assert why in found.why


@for_each(("header", "address"), table(__file__, "addresses"))
def test_an_address_on_which_two_readers_might_differ_is_none(
    header: str, address: str | None
) -> None:
    assert sender_authentication.address(header) == address


def test_two_senders_are_nobody() -> None:
    assert sender_authentication.sender([BANK, BANK], [GOOD], US) is None
    assert sender_authentication.sender([], [GOOD], US) is None


@given(st.lists(st.text(max_size=200), max_size=3), st.lists(st.text(max_size=200), max_size=3))
def test_nothing_that_can_be_written_there_breaks_or_verifies(
    froms: list[str], results: list[str]
) -> None:
    found = sender_authentication.sender(froms, results, US)
    assert found is None or not found.verified
