"""A mail, read: what it says, what it answers, whether anybody wrote it; whatever it is made of."""

import textwrap
from email.message import EmailMessage
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from remit.channels.mail import body_text, quoted_text, receiving, sender_authentication, signatures
from remit.channels.mail.quoted_text import SplitMail
from remit.channels.mail.sender_authentication import VerifiedSender
from remit.language.order_words import asks_for_work
from tests.channels.mail.mails import US, written
from tests.tables import for_each, table


def test_a_mail_is_read_with_its_thread_and_what_hangs_on_it_is_kept_apart() -> None:
    made = EmailMessage()
    made["From"] = "Anna Weber <anna@home.example>"
    made["Subject"] = "Re: Grüße"
    made["Message-ID"] = "<c@home.example>"
    made["References"] = "<a@x.example> <b@x.example>"
    made["In-Reply-To"] = "<b@x.example>"
    made.set_content("Hello there.\n")
    made.add_alternative("<p>Hello <b>there</b>.</p>", subtype="html")
    made.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="a\x01.pdf")
    found = receiving.letter(made.as_bytes(), US)

    assert found.head.subject == "Re: Grüße"
    assert found.head.threads == ("<a@x.example>", "<b@x.example>", "<c@home.example>")
    assert found.text == "Hello there."
    assert [each["type"] for each in found.attachments] == ["application/pdf"]
    assert [each and each.content for each in found.files] == [b"%PDF"]


def test_a_mail_in_html_alone_is_read_as_words() -> None:
    raw = written("<div>One<br>Two &amp; three</div><script>alert(1)</script>", kind="html")
    assert receiving.letter(raw, US).text.split("\n")[:2] == ["One", "Two & three"]
    assert "alert" not in receiving.letter(raw, US).text


@for_each("more", table(__file__, "sent_by_programs"))
def test_what_a_program_sent_is_known_for_it(more: dict[str, str]) -> None:
    assert receiving.head(written("Away.", **more), US).robot
    assert not receiving.head(written("Here.", **{"Auto-Submitted": "no"}), US).robot


def test_a_mail_without_a_name_or_with_two_gets_one_of_its_own() -> None:
    none, two = (
        written("Hi.", **{"Message-ID": ""}),
        written("Hi.", **{"Message-ID": "<a@b> <c@d>"}),
    )
    assert receiving.head(none, US).message_id.endswith("@nowhere>")
    assert receiving.head(two, US).message_id.endswith("@nowhere>")
    assert receiving.head(none, US).message_id != receiving.head(two, US).message_id


HOSTILE: Final = {
    "nothing": b"",
    "no head": b"\n\nbody",
    "binary": bytes(range(256)) * 200,
    "one long line": b"Subject: " + b"x" * 900_000,
    "a thousand parts": b"Content-Type: multipart/mixed; boundary=a\n\n" + b"--a\n\nx\n" * 50_000,
    "parts in parts": b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(2000)
    ),
    "many heads": b"X: y\n" * 100_000,
    "bad charset": b"Content-Type: text/plain; charset=no-such\n\nWords.",
    "bad encoding": b"Content-Transfer-Encoding: base64\n\n====",
    "bad words": b"Subject: =?no-such?q?=FF?=\nFrom: =?utf-8?b?//8=?= <a@b.example>\n\nx",
    "a header in a header": b"Subject: =?utf-8?q?a=0aBcc:_eve@evil.example?=\n\nx",
    "html of tags": b"Content-Type: text/html\n\n" + b"<a><b>" * 40_000,
    "html of brackets": b"Content-Type: text/html\n\n" + b"<" * 200_000,
    "references": b"References: " + b"<a@b.example>" * 5_000 + b"\n\nx",
}


@for_each("raw", HOSTILE.values())
def test_a_mail_that_is_built_to_break_its_reader_is_read_as_far_as_it_goes(raw: bytes) -> None:
    found = receiving.letter(raw[: receiving.MAX_BYTES], US)
    assert len(found.text.encode()) <= 60_000
    assert len(found.head.subject) <= 300
    assert len(found.head.threads) <= 21
    assert len(found.attachments) <= 30
    assert "\n" not in found.head.subject


def test_parts_in_parts_without_end_are_not_opened_at_all() -> None:
    found = receiving.letter(HOSTILE["parts in parts"], US)
    assert found.text == "[This mail has too many parts to be read.]"


@given(st.binary(max_size=2000))
def test_no_bytes_break_the_reader(raw: bytes) -> None:
    found = receiving.letter(raw, US)
    assert found.head.sender is None or not found.head.sender.verified


# Whose words --------------------------------------------------------------------------------------


def parted(text: str) -> SplitMail:
    return quoted_text.split(body_text.read_plain(text), None, is_answer=False)


def test_a_line_of_dashes_costs_nothing() -> None:
    assert parted("-" * 60_000 + "x").own_text.startswith("---")


def test_a_subject_says_whether_the_mail_is_another_s() -> None:
    assert all(quoted_text.is_forwarded(each) for each in ("Fwd: x", "FW: x", "WG: x", "RV:x"))
    assert not any(
        quoted_text.is_forwarded(each) for each in ("Re: x", "Forward planning", "AW: x")
    )
    assert quoted_text.bare_subject("Re: AW: Lunch") == "Lunch"


# Who wrote it: only the owner's own server is believed, in its first word -------------------------

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


# What its writer asks for -------------------------------------------------------------------------

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
