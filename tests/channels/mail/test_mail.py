"""A mail, read: what it says, what it answers, whether anybody wrote it; whatever it is made of."""

from email.message import EmailMessage
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from remit.channels.mail import body_text, quoted_text, receiving
from remit.channels.mail.quoted_text import SplitMail
from tests.channels.mail.mails import US, written
from tests.tables import for_each


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


@for_each(
    "more",
    [
        {"Auto-Submitted": "auto-replied"},
        {"Auto-Submitted": "auto-generated; x=y"},
        {"List-Id": "<l.example>"},
        {"List-Unsubscribe": "<mailto:x@y.example>"},
        {"Precedence": "Bulk"},
        {"Return-Path": "<>"},
        {"X-Autoreply": "yes"},
        {"From": "MAILER-DAEMON@mx.example.org"},
        {"From": "No-Reply <noreply@shop.example>"},
        {"Content-Type": "multipart/report; boundary=x"},
    ],
)
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
    found = receiving.letter(raw[: receiving.MOST], US)
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
