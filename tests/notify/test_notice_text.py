"""The words of a notice: a stranger's title marks up nothing, leads nowhere and stays one line."""

import re
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from remit.channels.mail import letter
from remit.channels.markdown import plain as inert
from remit.channels.whatsapp import cloud_api
from remit.delivery.notice_delivery import _WORDS, MOST_LINE, MOST_TITLE, NoticeWords
from remit.language.sentences import TRANSLATED, notice_sentences, prefer_language
from remit.model.conversation import KINDS, Notice, NoticeContent, NoticeKind
from tests.tables import for_each

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WORDS = NoticeWords(
    "Nina", lambda text: text.replace("hunter2", "…"), lambda: "http://127.0.0.1:7316/"
)
HOSTILE = [
    "Hello\r\nBcc: everyone@example.org",
    "[Click me](https://evil.example/steal)",
    "![x](https://evil.example/pixel.png)",
    "<img src=x onerror=alert(1)>",
    "<https://evil.example>",
    "https://evil.example/a?b=c and www.evil.example/d",
    "# Heading\n\n> quote\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    "``` code ``` and `more`",
    "ht\u200btps://evil.example/x",
    "\u202emoc.live\u202c hidden\u200b\u2066signs",
    "a\x00b\x1b[31mred",
    "\n\n\n",
    "x" * 5000,
]


def notice(title: str, line: str = "why", news: NoticeKind = NoticeKind.QUESTION) -> Notice:
    telling = NoticeContent(news=news, about="event:1", title=title, line=line, href="/inbox/rev-1")
    return Notice(id="ntc-1", telling=telling, way="phone", made=AT, due=AT)


def tags(page: str) -> list[str]:
    return re.findall(r"<[a-z]+|href=\S+", page)


@for_each("title", HOSTILE)
def test_a_hostile_title_is_words_on_one_line_with_one_link(title: str) -> None:
    body = WORDS.body([notice(title, title)])
    page = letter.page(body, "Nina")

    assert body.count("://") == 1
    assert "evil.example" not in body
    assert body.isprintable()
    assert tags(page) == tags(letter.page(WORDS.body([notice("Hello", "Hello")]), "Nina"))
    assert cloud_api.message_text(body) == body  # and WhatsApp shows it as it is


@for_each("text", [*HOSTILE[:-2], "a ```` b", "hunter2 is it"])
def test_a_text_to_be_approved_is_shown_to_the_letter_and_marks_up_nothing(text: str) -> None:
    body = WORDS.body([notice("Hello")], text)
    page = letter.page(body, "Nina")
    block = page.partition("<pre")[2].partition("</pre>")[0]

    shown = text.replace("hunter2", "…").strip("\n")
    assert shown.replace("\x00", "") in body.replace("\x00", "")
    assert not tags(block.removeprefix(block.partition("<code")[0] + "<code"))


def test_a_long_text_to_be_approved_is_cut_and_says_so() -> None:
    body = WORDS.body([notice("Hello")], "x" * 5_000)

    assert "```\n\n… and 2,000 more characters. The whole text is in" in body


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_title_and_any_line_stay_within_their_room(title: str, line: str) -> None:
    for news in KINDS:
        body = WORDS.body([notice(title, line, news)])

        assert "\n" not in body
        assert len(body) < MOST_TITLE + MOST_LINE + 120
        assert body.endswith(" http://127.0.0.1:7316/inbox/rev-1")


def test_a_secret_in_a_title_is_not_told() -> None:
    assert "hunter2" not in WORDS.body([notice("Log in with hunter2", "hunter2")])
    assert "hunter2" not in WORDS.pushed([notice("Log in with hunter2")], named=True)


def test_a_lock_screen_shows_no_title_unless_it_is_wanted() -> None:
    assert WORDS.pushed([notice("Renew it")], named=False) == "Nina needs you."
    assert WORDS.pushed([notice("Renew it")], named=True) == "Nina needs you: Renew it"


def test_many_of_one_sort_are_a_number_and_several_sorts_are_lines() -> None:
    done = [notice(f"Task {n}", news=NoticeKind.DONE) for n in range(12)]
    mixed = [*done[:2], notice("Renew it")]

    assert WORDS.body(done) == "12 tasks are done. http://127.0.0.1:7316/tasks"
    assert WORDS.body(mixed).splitlines() == [
        "Nina: 2 tasks are done, 1 task needs you.",
        "",
        "- “Task 0” is done.",
        "- “Task 1” is done.",
        "- “Renew it” needs you: why",
        "",
        "http://127.0.0.1:7316/inbox",
    ]
    assert len(WORDS.digest(done * 9).splitlines()) == 25


@given(st.text())
def test_what_is_inert_stays_as_it_is(text: str) -> None:
    once = inert(text, 200)

    assert inert(once, 200) == once


def test_digest_and_lock_screen_speak_the_language_of_the_owner() -> None:
    counts = "1 Aufgabe braucht dich, 25 Aufgaben sind erledigt."
    many = [notice("Renew it"), *[notice(f"Task {n}", "", NoticeKind.DONE) for n in range(25)]]
    prefer_language("de")
    try:
        assert WORDS.pushed(many[:1], named=False) == "Nina braucht dich."
        assert WORDS.pushed(many, named=True) == counts
        digest, long = WORDS.digest(many), WORDS.body(many[:1], "x" * 5_000)
    finally:
        prefer_language("auto")
    assert "```\n\n… und 2,000 weitere Zeichen. Der ganze Text steht" in long
    assert digest.startswith(f"Nina: {counts}\n")
    assert "- „Renew it“ braucht dich: why\n" in digest
    assert "- und 6 weitere" in digest
    # Without a choice: the language of what they are about.
    assert WORDS.body([notice("Ruf morgen die Oma an", "Wann soll ich anrufen?")]).startswith("„")


@for_each("language", TRANSLATED)
def test_every_sentence_of_a_notice_is_in_the_catalogue(language: str) -> None:
    known = notice_sentences(language)
    english = {each for forms in _WORDS.values() for each in forms.values()}
    assert english <= known.keys()
    places = re.compile(r"\{\d\}")
    assert {
        each for each in known if set(places.findall(each)) != set(places.findall(known[each]))
    } == set()
