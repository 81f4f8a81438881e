"""Markdown as WhatsApp shows it: nothing lost, plain text untouched."""

import re
import sys
from collections import Counter
from types import FrameType
from typing import Final, Self

from hypothesis import given, settings
from hypothesis import strategies as st

from remit.channels.whatsapp import cloud_api
from tests.tables import for_each, table, text_table

CODE_IN_A_LIST: Final = "• a\n\n  ```\n  b\n  ```"  # a list no more, once it is turned
EXAMPLES: Final = table(__file__, "examples")


@for_each(("markdown", "text"), EXAMPLES)
def test_markdown_becomes_what_whatsapp_shows(markdown: str, text: str) -> None:
    assert cloud_api.message_text(markdown) == text


PLAIN: Final = table(__file__, "plain")


@for_each("text", PLAIN)
def test_a_text_without_markdown_stays_as_it_is(text: str) -> None:
    assert cloud_api.message_text(text) == text


@for_each(("markdown", "text"), EXAMPLES)
def test_a_text_for_whatsapp_is_not_turned_again(markdown: str, text: str) -> None:
    del markdown
    if text != CODE_IN_A_LIST:
        assert cloud_api.message_text(text) == text


LOST_BY_THE_LIBRARY: Final = [
    "| a |\n|---|\n| 1 | canary |",  # a cell without a column
    "> " * 30 + "canary",  # deeper than it looks
    "- " * 30 + "canary",
]


@for_each("opening", ["![", "[", "> ", "- ", "*", "**", "`", "<", "1. "])
def test_no_nest_is_too_deep(opening: str) -> None:
    assert "canary" in cloud_api.message_text(opening * 5000 + "canary" + "](u)" * 5000)


@for_each("markdown", LOST_BY_THE_LIBRARY)
def test_what_could_not_be_turned_without_a_loss_is_not_turned(markdown: str) -> None:
    assert cloud_api.message_text(markdown) == markdown


PIECES: Final = st.sampled_from(
    [
        each
        for name in ("marks", "signs", "forms", "others", "said")
        for each in text_table(__file__, name)
    ]
)
MARKDOWN: Final = st.lists(PIECES, max_size=40).map("".join)


@settings(deadline=None)
@given(MARKDOWN)
def test_no_word_is_lost_or_moved_whatever_the_marks(markdown: str) -> None:
    words = re.compile("alpha|beta|gamma|דלתא|ไทย|日本|👩‍👩‍👧|u\\.test|x\\.test")
    ordered = re.compile("alpha|beta|gamma|דלתא|日本")
    written = cloud_api.message_text(markdown)
    lost = Counter(words.findall(markdown)) - Counter(words.findall(written))

    # An address that is its own label, and the language of a code block, are said once.
    assert set(lost) <= {"u.test", "x.test"}
    assert all(word in written for word in lost)
    assert ordered.findall(written) == ordered.findall(markdown)


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
        cloud_api.message_text(markdown)
    finally:
        sys.settrace(before)
    return lines.run


@for_each("piece", HURTFUL)
def test_the_work_grows_as_the_text_does(piece: str) -> None:
    short = _steps(piece * (200 // len(piece)))
    long = _steps(piece * (800 // len(piece)))

    assert long <= 6 * short + 2000
