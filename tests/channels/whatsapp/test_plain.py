"""Markdown as WhatsApp shows it: nothing lost, plain text untouched."""

import re
import sys
from collections import Counter
from types import FrameType
from typing import Final, Self

from hypothesis import given, settings
from hypothesis import strategies as st

from remit.channels.whatsapp import message_text
from tests.tables import for_each

EXAMPLES: Final = {
    "heading": ("# Parks\n\nGreen.", "*Parks*\n\nGreen."),
    "heading with bold": ("## The **best** *parks*", "*The best _parks_*"),
    "heading on two lines": ("Parks\nand lakes\n===", "*Parks*\n*and lakes*"),
    "bold": ("**bold** and __bold__", "*bold* and *bold*"),
    "one star is bold": ("*bold*", "*bold*"),
    "italic": ("a **b _c_** _d_", "a *b _c_* _d_"),
    "both": ("***x***", "_*x*_"),
    "bold over lines": ("**a\nb**", "*a*\n*b*"),
    "struck": ("~~gone~~", "~gone~"),
    "bullets": ("- a\n- b\n  - c\n* d", "• a\n• b\n  • c\n\n• d"),
    "bullets of an author": ("• **a**\n  • b\n\n```\nc\n```", "• *a*\n  • b\n\n```\nc\n```"),
    "paragraph in a list": ("1. a\n\n   more\n2. b", "1. a\n\n   more\n2. b"),
    "code in a list": ("- a\n  ```\n  b\n  ```", "• a\n\n  ```\n  b\n  ```"),
    "plus": ("+ a\n+ b", "• a\n• b"),
    "numbers": ("3. a\n3. b", "3. a\n4. b"),
    "brackets": ("1) a\n2) b", "1) a\n2) b"),
    "link": (
        "see [the map](https://x.test/a_b?c=1&d=2)",
        "see the map (https://x.test/a_b?c=1&d=2)",
    ),
    "link with title": ('[map](https://x.test "Big map")', "map (Big map: https://x.test)"),
    "link to itself": ("[https://x.test](https://x.test)", "https://x.test"),
    "code that links to itself": ("[`a.md`](a.md)", "`a.md`"),
    "bare link": ("<https://x.test>", "https://x.test"),
    "mail": ("[a@x.test](mailto:a@x.test)", "a@x.test"),
    "letters": ("[ü](https://ü.test/ä)", "ü (https://ü.test/ä)"),
    "image": ("![a cat](https://x.test/c.png)", "a cat (https://x.test/c.png)"),
    "image in an image": (r"![![a \* b](u)](v)", "a * b (u) (v)"),
    "nameless image": ("![](https://x.test/c.png)", "https://x.test/c.png"),
    "source list": (
        "as **said** [1]\n\n[1]: https://x.test",
        "as *said* [1]\n\n[1]: https://x.test",
    ),
    "table": ("| a | b |\n|---|:-:|\n| 1 | **2** |", "*a* | *b*\n1 | *2*"),
    "table with a hole": ("| a |  |\n|---|---|\n|  | 2 |", "*a* | \n | 2"),
    "quote": ("> a\nb\n>\n> - c", "> a\n> b\n>\n> • c"),
    "code": ("```py\nif a:\n    b * c\n```", "```\nif a:\n    b * c\n```"),
    "code that has only a name": ("a\n\n```canary", "a\n\n```\ncanary\n```"),
    "code with a caption": ("~~~ two words\na\n~~~", "```\ntwo words\na\n```"),
    "code in words": ("run `a * b` now", "run `a * b` now"),
    "code with a tick": ("``a`b``", "```a`b```"),
    "indented code": ("x\n\n    a = 1", "x\n\n```\na = 1\n```"),
    "rule": ("a\n\n---\n\nb", "a\n\n———\n\nb"),
    "html is text": ("<b>x</b> & **y**", "<b>x</b> & *y*"),
    "escapes": (r"1 \* 2 \* 3 **y**", "1 * 2 * 3 *y*"),
    "entities": ("caf&eacute; &amp; **y**", "café & *y*"),
    "a script": ("[x](javascript:alert(1)) **y**", "[x](javascript:alert(1)) *y*"),
}


@for_each(("markdown", "text"), EXAMPLES.values())
def test_markdown_becomes_what_whatsapp_shows(markdown: str, text: str) -> None:
    assert message_text.text(markdown) == text


PLAIN: Final = [
    "Don't forget to call mom",
    "  two  blanks\n   and a second line  \n\n\n\nand a gap\n",
    "*bold*, _italic_, ~struck~, `code`",
    "2 * 3 * 4 = 24, a_b_c, 5 > 4, 100 % & more",
    "• one\n  • two\n• three",
    "https://x.test/a_b_c?d=*e*",
    "",
    " ",
]


@for_each("text", PLAIN)
def test_a_text_without_markdown_stays_as_it_is(text: str) -> None:
    assert message_text.text(text) == text


@settings(deadline=None)
@given(
    st.lists(st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=9), max_size=30)
)
def test_words_stay_as_they_are(words: list[str]) -> None:
    text = " ".join(words)

    assert message_text.text(text) == text


@for_each("name", sorted(EXAMPLES.keys() - {"code in a list"}))
def test_a_text_for_whatsapp_is_not_turned_again(name: str) -> None:
    once = message_text.text(EXAMPLES[name][0])

    assert message_text.text(once) == once


LOST_BY_THE_LIBRARY: Final = [
    "| a |\n|---|\n| 1 | canary |",  # a cell without a column
    "> " * 30 + "canary",  # deeper than it looks
    "- " * 30 + "canary",
]


@for_each("opening", ["![", "[", "> ", "- ", "*", "**", "`", "<", "1. "])
def test_no_nest_is_too_deep(opening: str) -> None:
    assert "canary" in message_text.text(opening * 5000 + "canary" + "](u)" * 5000)


@for_each("markdown", LOST_BY_THE_LIBRARY)
def test_what_could_not_be_turned_without_a_loss_is_not_turned(markdown: str) -> None:
    assert message_text.text(markdown) == markdown


MARKS: Final = ["# ", "## ", "- ", "* ", "1. ", "7) ", "> ", "```\n", "```py\n", "~~~ two words\n"]
SIGNS: Final = [
    "**",
    "*",
    "_",
    "__",
    "~~",
    "`",
    "``",
    "[",
    "](",
    ")",
    "](<",
    ">)",
    "![",
    "](u.test)",
]
FORMS: Final = [
    "| a | b |\n|---|---|\n",
    "| ",
    " |\n",
    "---\n",
    "===\n",
    "\n",
    "\n\n",
    "  \n",
    "\\",
]
OTHER: Final = [
    "&amp;",
    "&lt;",
    "&#65;",
    "<",
    ">",
    "<https://x.test>",
    "https://x.test/a_b",
    "[1]: u\n",
]
SAID: Final = [
    "alpha",
    "beta",
    "gamma",
    "דלתא",
    "ไทย",
    "日本",
    "👩‍👩‍👧",
    " ",
    " ",
    "    ",
    "\t",
    "\r\n",
    "\x00",
]
PIECES: Final = st.sampled_from([*MARKS, *SIGNS, *FORMS, *OTHER, *SAID])
MARKDOWN: Final = st.lists(PIECES, max_size=40).map("".join)


@settings(deadline=None)
@given(MARKDOWN)
def test_no_word_is_lost_whatever_the_marks(markdown: str) -> None:
    words = re.compile("alpha|beta|gamma|דלתא|ไทย|日本|👩‍👩‍👧|u\\.test|x\\.test")
    written = message_text.text(markdown)
    lost = Counter(words.findall(markdown)) - Counter(words.findall(written))

    # An address that is its own label, and the language of a code block, are said once.
    assert set(lost) <= {"u.test", "x.test"}
    assert all(word in written for word in lost)


@settings(deadline=None)
@given(MARKDOWN)
def test_words_keep_their_order(markdown: str) -> None:
    words = re.compile("alpha|beta|gamma|דלתא|日本")

    assert words.findall(message_text.text(markdown)) == words.findall(markdown)


# Linear -------------------------------------------------------------------------------------------

HURTFUL: Final = [
    *("[", "![", "](", "*a ", "**", "_a*", "`", "``a ", "> ", "- ", "<", "&", "\\", "|", "[a]("),
    *("~~", "#", "1. ", "a\n", "*a_ ", "|a|\n|-|\n", "[](<", "<a@", "&#", "- a\n", "\t", "a **b"),
]


class Lines:
    """Counts the lines of Python that are run: a measure that no busy machine can bend."""

    def __init__(self) -> None:
        self.run = 0

    def __call__(self, _frame: FrameType, event: str, _arg: object) -> Self:
        self.run += event == "line"
        return self


def _steps(markdown: str) -> int:
    lines, before = Lines(), sys.gettrace()
    sys.settrace(lines)
    try:
        message_text.text(markdown)
    finally:
        sys.settrace(before)
    return lines.run


@for_each("piece", HURTFUL)
def test_the_work_grows_as_the_text_does(piece: str) -> None:
    short = _steps(piece * (200 // len(piece)))
    long = _steps(piece * (800 // len(piece)))

    assert long <= 6 * short + 2000
