"""A letter says what passed the gate, and its head holds exactly the lines it should."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import EmailMessage, Message
from email.parser import BytesHeaderParser
from email.utils import parseaddr
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.channels.mail import letter, letter_head
from remit.channels.mail.letter import MailContent, MailSender, MailThread, OutgoingMail
from remit.channels.mail.letter_head import address
from remit.errors import BadInput
from tests.tables import for_each, table, text_table

NOW: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
KEY: Final = "dlv-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA"
TO: Final = address("hanan@example.test")
NINA: Final = MailSender(address("nina@example.test", "Nina"))
ALWAYS: Final = ["Date", "From", "To", "Subject", "Message-ID"]
FORM: Final = ["Auto-Submitted", "MIME-Version", "Content-Type"]
THREAD: Final = ["In-Reply-To", "References"]
POLICIES: Final = (policy.compat32, policy.default, policy.SMTP, policy.SMTPUTF8)

# What somebody writes who wants a line of his own in the head.
HOSTILE: Final = (
    "a\r\nBcc: e@x.test",
    "a\nBcc: e@x.test\n\nbody",
    "a\rBcc: e@x.test",
    "a\x00\x0b\x0c\x1c\x1d\x1e\x85Bcc: e@x.test",
    "a\u2028Bcc: e@x.test\u2029",
    "a =?utf-8?q?=0aBcc:_e@x.test?=",
    "=?utf-8?b?CkJjYzogZUB4LnRlc3Q=?=",
    "=\u200b?utf-8?q?=0aBcc:_e@x.test?=",
    "=?" * 40 + "=??utf-8?q?=0d=0aBcc:_e@x.test?=",
    "ü =?utf-8?q?=0d=0aBcc:_e@x.test?= ü",
    "x" * 5000,
    "ü" * 5000,
    " ",
    ": ",
    "\ud800 half",
    "\u202etxet neddih",
)
texts = st.one_of(st.text(), st.sampled_from(HOSTILE), st.text(alphabet="=?utf8qb_0aABc:\r\n @<>"))


def made(
    body: str = "Hello.", thread: MailThread | None = None, sender: MailSender = NINA
) -> OutgoingMail:
    return letter.compose(MailContent(KEY, TO, body, thread or MailThread()), sender, NOW)


def subject_of(body: str, thread: MailThread | None = None) -> str:
    return str(parsed(made(body, thread).wire)["Subject"])


def head_of(wire: bytes) -> bytes:
    return wire.partition(b"\r\n\r\n")[0]


def names(wire: bytes) -> list[str]:
    return [
        line.split(b":")[0].decode() for line in head_of(wire).split(b"\r\n") if line[:1] != b" "
    ]


def parsed(wire: bytes) -> EmailMessage:
    found = message_from_bytes(wire, policy=policy.SMTP)
    assert isinstance(found, EmailMessage)
    return found


def part(wire: bytes, kind: str) -> str:
    found = parsed(wire).get_body((kind,))
    assert found is not None
    payload = found.get_payload(decode=True)
    assert isinstance(payload, bytes)
    return payload.decode().replace("\r\n", "\n")


# The head -----------------------------------------------------------------------------------------


@given(title=texts, body=texts, earlier=st.lists(texts, max_size=3))
def test_the_head_holds_exactly_its_lines_whatever_was_written(
    title: str, body: str, earlier: Sequence[str]
) -> None:
    body = body.encode("utf-8", "replace").decode()
    wire = made(body, MailThread(title, tuple(earlier))).wire

    assert names(wire) == [*ALWAYS, *FORM]
    for each in POLICIES:
        read = message_from_bytes(wire, policy=each)
        assert read.keys() == names(wire)
        # Somebody on the way may take it apart and put it together again.
        assert _again(read, each).keys() == names(wire)
        assert BytesHeaderParser(policy=each).parsebytes(wire)["To"] == "hanan@example.test"


def _again(
    read: "Message[str, str]", by: "policy.Policy[Message[str, str]]"
) -> "Message[str, str]":
    return message_from_bytes(read.as_bytes(policy=by), policy=by)


@given(body=texts, title=texts)
def test_no_line_is_long_bare_or_other_than_ascii(body: str, title: str) -> None:
    wire = made(body.encode("utf-8", "replace").decode(), MailThread(title)).wire

    assert wire.isascii()
    assert wire.endswith(b"\r\n")
    assert max(len(line) for line in wire.split(b"\r\n")) <= 160
    assert re.search(rb"\r(?!\n)|(?<!\r)\n|\x00", wire) is None
    assert not any(line.startswith(b".") for line in wire.split(b"\r\n"))


@given(name=texts)
def test_a_name_is_refused_or_stands_in_the_head_as_it_is(name: str) -> None:
    try:
        sender = MailSender(address("nina@example.test", name), address("desk@example.test", name))
    except BadInput as error:
        assert "cannot stand before an address" in str(error)  # noqa: PT017 - both ends are good
        return
    wire = made(sender=sender).wire

    assert names(wire) == ["Date", "From", "Reply-To", "To", "Subject", "Message-ID", *FORM]
    read = message_from_bytes(wire, policy=policy.compat32)
    for field, of in (("From", "nina@example.test"), ("Reply-To", "desk@example.test")):
        shown, found = parseaddr(read[field].replace("\r\n", ""))
        assert (str(make_header(decode_header(shown))), found) == (name, of)


@for_each("title", HOSTILE)
def test_a_subject_is_one_bounded_line_that_shows_all_it_says(title: str) -> None:
    found = str(parsed(made("Body.", MailThread(title)).wire)["Subject"])

    assert found == (letter_head.subject(title) or "Body.")
    assert 0 < len(found) <= letter_head.MOST_SUBJECT
    assert found.isprintable()
    assert "=?" not in found


def test_a_head_that_would_say_something_else_is_not_written() -> None:
    for fields in (
        [("To", "a@x.test\r\nBcc: b@x.test")],
        [("To", "a@x.test\r\n\r\nbody")],
        [("To", "a@x.test\nBcc: b@x.test")],
        [("To", "a@x.test\x00")],
        [("To", "a@x.test"), ("To", "b@x.test")],
        [("To", "")],
        [("To", "a@x.test\r\n \r\n")],
        [("To\r\nBcc", "a@x.test")],
        [("To", "ü@x.test")],
        [("Subject", "x" * 999)],
    ):
        with pytest.raises(BadInput):
            letter_head.head(fields)


def test_the_subject_is_the_title_or_the_heading_or_the_first_words() -> None:
    assert subject_of("Text.\n\n## The *report*, at [last](https://x.test)\n") == (
        "The _report_, at last <https://x.test>"
    )
    assert subject_of("# Heading\n\nText.", MailThread("Title")) == "Title"
    assert subject_of("\n\nFirst line.\nSecond line.") == "First line."
    assert subject_of("Hi Anna,\n\nthree slots for us.\nBest, Hanan") == "Three slots for us."
    assert subject_of("Dear Anna,") == "Dear Anna,"
    assert subject_of("word " * 60).endswith("word…")
    assert subject_of("\u200b\u200b") == "(no subject)"


def test_an_answer_names_what_it_answers_and_says_so_once() -> None:
    ids = tuple(f"<m{n}@x.test>" for n in range(30))
    wire = made(thread=MailThread("Parks", ids)).wire
    read = parsed(wire)

    assert names(wire) == [*ALWAYS, *THREAD, *FORM]
    assert read["In-Reply-To"] == "<m29@x.test>"
    kept = str(read["References"]).split()
    assert kept == [ids[0], *ids[-19:]]
    assert read["Subject"] == "Re: Parks"
    assert subject_of("x", MailThread("RE: Parks", ids)) == "RE: Parks"


def test_an_id_that_could_end_a_line_is_left_out_of_the_thread() -> None:
    bad = ("<a@x>\r\nBcc: e@x.test", "a@x.test", "<a b@x.test>", "<=?utf-8?q?=0a?=@x.test>", "")
    assert names(made(thread=MailThread("T", bad)).wire) == [*ALWAYS, *FORM]

    wire = made(thread=MailThread("T", (*bad, "<good@x.test>"))).wire
    assert parsed(wire)["References"] == "<good@x.test>"


def test_the_same_delivery_always_has_the_same_id_and_tells_machines_not_to_answer() -> None:
    first, second = made(), letter.compose(MailContent(KEY, TO, "Hello."), NINA, NOW)

    assert first == second
    assert first.message_id == f"<{KEY}@example.test>"
    read = parsed(first.wire)
    assert read["Message-ID"] == first.message_id
    assert read["Auto-Submitted"] == "auto-generated"
    assert read["Date"] == "Mon, 02 Mar 2026 09:00:00 +0000"
    assert letter_head.key_in(first.message_id, "example.test") == KEY
    assert letter_head.key_in(first.message_id, "ample.test") is None
    assert letter_head.key_in(f"<x{first.message_id}", "example.test") is None


@for_each("key", ["", "a b", "a@b", "a>b", "a\r\nb", "..", "ü", "a" * 129])
def test_a_key_that_is_no_part_of_an_id_is_refused(key: str) -> None:
    with pytest.raises(BadInput, match="cannot be part of a message id"):
        letter.compose(MailContent(key, TO, "x"), NINA, NOW)


# Addresses ----------------------------------------------------------------------------------------


@for_each(
    "text",
    [
        *table(__file__, "no_addresses"),
        "nina@" + "a.".join("b" for _ in range(140)) + ".test",
        "\ud800@example.test",
        "nina@\ud800.test",
    ],
)
def test_what_is_not_one_bare_address_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(BadInput, match="is no mail address"):
        address(text)


@for_each(
    ("text", "wire"),
    [
        ("nina@example.test", "nina@example.test"),
        ("Nina.B+tag_1-x'y@Mail.EXAMPLE.test", "Nina.B+tag_1-x'y@mail.example.test"),
        ("nina@bücher.test", "nina@xn--bcher-kva.test"),
        ("nina@\u0430pple.test", "nina@xn--pple-43d.test"),  # a Cyrillic letter is seen
        ("björn@example.test", "björn@example.test"),
        ("bjo\u0308rn@example.test", "björn@example.test"),
    ],
)
def test_an_address_goes_out_so_that_a_look_alike_is_seen(text: str, wire: str) -> None:
    assert str(address(text)) == wire
    assert address(text).is_ascii == wire.isascii()


@given(text=st.one_of(st.text(), st.from_regex(r"\A[^@]{1,20}@[^@]{1,20}\Z")))
def test_an_address_that_is_taken_can_end_no_command(text: str) -> None:
    try:
        found = str(address(text))
    except BadInput:
        return
    assert re.search(r"[\s<>,;:\"()\[\]\\\x00-\x20\x7f]", found) is None
    assert found.count("@") == 1


# The words ----------------------------------------------------------------------------------------


@given(body=st.text())
def test_both_parts_arrive_as_they_were_written(body: str) -> None:
    wire = made(body).wire

    assert part(wire, "plain") == re.sub("\r\n?", "\n", letter.plain_text(body))
    assert part(wire, "html") == letter.page(body, subject_of(body))


def test_dots_and_other_traps_of_the_wire_stay_in_the_text() -> None:
    body = "```\n.\n..\n.x\nFrom here\n--=_border\n=2E\nblank \n\ttab\t\n```\n" + "." * 300
    wire = made(body + "\n\n" + "xFrom here. " * 60).wire

    assert part(wire, "plain").startswith(letter.plain_text(body).rstrip("\n"))
    assert not any(line.startswith((b".", b"From ")) for line in wire.split(b"\r\n"))


@given(body=st.text(alphabet=st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"])))
def test_no_word_is_lost_in_the_plain_text(body: str) -> None:
    wanted = re.findall(r"[^\W_]+", body)
    there = re.findall(r"[^\W_]+", letter.plain_text(body) + body.replace("&", ""))
    assert set(wanted) <= set(there)


@for_each(("markdown", "plain"), table(__file__, "plain_texts"))
def test_the_plain_text_reads_by_itself_and_a_table_too_wide_to_draw_row_by_row(
    markdown: str, plain: str
) -> None:
    assert letter.plain_text(markdown) == plain


# The page -----------------------------------------------------------------------------------------

TAGS: Final = re.compile(r"<\s*/?\s*([a-zA-Z0-9]+)((?:\s[^<>]*)?)>")
ALLOWED: Final = (
    "p h1 h2 h3 h4 h5 h6 a ul ol li blockquote code pre hr div table thead tbody tr th td "
    "strong em s br"
)
ATTACKS: Final = text_table(__file__, "attacks")


@given(
    body=st.one_of(
        st.sampled_from(ATTACKS), st.text(), st.lists(st.sampled_from(ATTACKS)).map("\n".join)
    )
)
def test_the_page_holds_our_tags_and_links_to_the_web_and_to_mail_alone(body: str) -> None:
    found = letter.fragment(body)

    for tag, attributes in TAGS.findall(found):
        assert tag in ALLOWED.split()
        without_style = re.sub(r' (?:style="[^"<>]*"|dir="auto")', "", attributes)
        assert re.fullmatch(
            r'( href="(?:https?:|mailto:)[^"]*")?( rel="[a-z ]+")?( start="\d+")?( align="\w+")?',
            without_style,
        )
    assert "<" not in TAGS.sub("", found)


def test_nothing_is_fetched_to_show_a_letter() -> None:
    page = letter.page("![Map](https://x.test/m.png)\n\n" + "\n\n".join(ATTACKS), "T")

    assert '<a href="https://x.test/m.png"' in page
    assert re.search(r"<(?:img|link|[^<>]*\ssrc=)|url\(|@import", page) is None


def test_what_looks_like_code_is_shown_and_not_run() -> None:
    found = letter.fragment("a <script>alert(1)</script> <b>b</b>")

    assert "a &lt;script&gt;alert(1)&lt;/script&gt; &lt;b&gt;b&lt;/b&gt;" in found


def test_a_link_that_looks_like_another_place_says_where_it_leads() -> None:
    assert "https://bank.test</a> (evil.test)" in letter.fragment(
        "[https://bank.test](https://evil.test/x)"
    )
    assert "(evil.test)" in letter.fragment("[www.bank.test](https://evil.test/bank.test)")
    assert "(bank.test@evil.test)" in letter.fragment(
        "[https://bank.test/](https://bank.test@evil.test/)"
    )
    for honest in (
        "[here](https://x.test)",
        "<https://bücher.test/ß>",
        "[www.x.test](http://www.x.test/a)",
    ):
        assert "</a> (" not in letter.fragment(honest)


def test_a_title_cannot_leave_its_place_in_the_page() -> None:
    page = letter.page("x", "</title><script>alert(1)</script>")

    assert "<script" not in page
    assert letter.page("{title} {0} {{", "{dark}").count("<html>") == 1


def test_lines_lists_and_columns_keep_their_shape() -> None:
    found = letter.fragment("Best,\nNina\n\n3. c\n\n| a | b |\n|--|--:|\n| 1 | 2 |")

    assert "Best,<br>\nNina" in found
    assert '<ol start="3"' in found
    assert re.search(r'<td align="right"[^<>]*>2</td>', found)
    assert "<div" in found
    assert re.search(r'<p[^<>]* dir="auto"', found)  # whatever script a paragraph is in


def test_marks_of_emphasis_are_no_part_of_a_subject() -> None:
    assert letter.subject_of("Hi,\n\ntwo slots: **Tuesday 10:00** or _Friday_.") == (
        "Two slots: Tuesday 10:00 or Friday."
    )
    assert letter.subject_of("2 \\* 3 \\* 4 and a_b_c") == "2 * 3 * 4 and a_b_c"


def test_the_address_of_a_page_is_no_part_of_a_subject() -> None:
    assert subject_of("“Plan” needs you: Send it? http://127.0.0.1:7316/inbox/r-1") == (
        "“Plan” needs you: Send it?"
    )
    assert subject_of("http://127.0.0.1:7316/inbox") == "(no subject)"
