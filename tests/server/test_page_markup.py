"""Other people's text as marks of ours: nothing of it runs, and no word of it is lost."""

import re
from difflib import Match, SequenceMatcher
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.server.web import markup
from tests.tables import for_each

SIGNS = [
    *"ab *_~`<>&\"'\n[]()#!-|:/=.,",
    "<script>",
    "<img src=x onerror=a>",
    "](javascript:a)",
    "```",
]
LETTERS = st.lists(st.sampled_from(SIGNS), max_size=40).map("".join)
KNOWN = {"p", "h3", "h4", "h5", "h6", "a", "ul", "ol", "li", "blockquote", "code", "pre", "hr"}
KNOWN |= {"div", "table", "thead", "tbody", "tr", "th", "td", "s", "strong", "em", "br"}
HARMLESS = {"href", "start", "align", "dir", "rel", "target", "tabindex"}


class Tags(HTMLParser):
    """Every tag and attribute of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: dict[str, str | None] = {}
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= dict(attrs)


@settings(deadline=None)
@given(LETTERS | st.text(max_size=80))
def test_markdown_becomes_tags_of_our_list_and_nothing_else(text: str) -> None:
    found = Tags(markup.markdown(text))
    assert found.tags <= KNOWN
    assert set(found.attributes) <= HARMLESS
    assert re.match(r"(https?|mailto):", found.attributes.get("href") or "http:")


@settings(deadline=None)
@given(LETTERS | st.text(max_size=80))
def test_a_bubble_holds_four_tags_and_every_word(text: str) -> None:
    drawn = str(markup.whatsapp(text))
    assert Tags(drawn).tags <= {"b", "i", "s", "code"}
    plain = unescape(re.sub(r"</?(?:b|i|s|code)>", "", drawn))
    kept = text.replace("\x00", "")
    assert re.sub(r"[*_~`]", "", plain) == re.sub(r"[*_~`]", "", kept)


@for_each(
    ("said", "drawn"),
    [
        ("*bold* text", "<b>bold</b> text"),
        ("_it_ ~no~", "<i>it</i> <s>no</s>"),
        ("2*3*4 and snake_case_name", "2*3*4 and snake_case_name"),
        ("* not bold *", "* not bold *"),
        ("`*code*` ```a\n*b*```", "<code>*code*</code> <code>a\n*b*</code>"),
        ("*<i>*", "<b>&lt;i&gt;</b>"),
    ],
)
def test_marks_are_read_as_whatsapp_reads_them(said: str, drawn: str) -> None:
    assert markup.whatsapp(said) == drawn


@settings(deadline=None)
@given(LETTERS, LETTERS)
def test_what_went_and_what_came_make_both_texts_again(before: str, after: str) -> None:
    html = str(markup.changes(before, after).html)
    old = unescape(re.sub(r"<ins>.*?</ins>|</?del>", "", html, flags=re.DOTALL))
    new = unescape(re.sub(r"<del>.*?</del>|</?ins>", "", html, flags=re.DOTALL))
    assert (old, new) == (before, after)


def test_a_changed_phrase_is_one_change_and_an_equal_text_is_none() -> None:
    before = "Half a day. Opens 10:00.\nSea Life."
    after = "Half a day. Opens 10:30 on weekdays.\nSea Life."
    assert markup.changes(before, after).count == 1
    assert markup.changes(before, before).count == 0


def test_two_long_texts_are_compared_by_their_lines() -> None:
    before = "\n".join(f"line {n} of many words in a row" for n in range(2000))
    after = before.replace("line 7 of", "line seven of")
    found = markup.changes(before, after)
    assert found.count == 1
    assert "<ins>line seven of" in str(found.html)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a " * 750, "a b " * 375),
        ("x\n" * 60_000, "y\nx\n" * 30_000),
        (" ".join(f"w{n % 97}" for n in range(750)), " ".join(f"w{n % 101}" for n in range(750))),
    ],
)
def test_no_two_texts_take_long_to_compare(
    before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 0

    class Counted(SequenceMatcher[str]):
        def find_longest_match(
            self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
        ) -> Match:
            nonlocal steps
            places: dict[str, list[int]] = vars(self)["b2j"]
            steps += sum(len(places.get(each, ())) + 1 for each in vars(self)["a"][alo:ahi])
            return super().find_longest_match(alo, ahi, blo, bhi)

    monkeypatch.setattr(markup, "SequenceMatcher", Counted)
    found = markup.changes(before, after)

    assert found.count
    assert steps < 1_000_000


def test_many_pieces_of_code_are_each_put_back() -> None:
    assert markup.whatsapp("`c` " * 3_000).count("<code>c</code>") == 3_000
    assert "\x00" not in markup.whatsapp("`a ```b``` c`")
