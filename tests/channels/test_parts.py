"""A long text in parts: each fits, together they are the whole, nothing is torn."""

import re
from typing import Final

import pytest
import regex  # type: ignore[import-untyped]
from hypothesis import example, given, settings
from hypothesis import strategies as st

from remit.channels import parts
from remit.channels.parts import MIN_PART_CHARACTERS, is_joined, split
from tests.tables import for_each, table, text_table

LIMITS: Final = st.integers(MIN_PART_CHARACTERS, 200)
LATIN: Final = text_table(__file__, "latin")
OTHER: Final = text_table(__file__, "others")
WORDS: Final = st.sampled_from([*LATIN, *OTHER, "\r\n", " \u0308"])
TEXT: Final = st.lists(WORDS, max_size=80).flatmap(
    lambda words: st.sampled_from([" ", ""]).map(lambda glue: glue.join(words))
)
MARKED: Final = st.lists(
    st.sampled_from(
        ["*bold words*", "_so so_", "~gone~", "`a b`", "*_both of them_*", "word", "\n"]
    )
    | st.just("```\nif a:\n    b\n```")
    | st.just("https://x.test/a/b?c=d"),
    max_size=40,
).map(" ".join)


def bare(text: str) -> str:
    return re.sub(r"\s", "", text)


@settings(deadline=None)
@given(TEXT, LIMITS)
@example("x" * 1000, MIN_PART_CHARACTERS)
@example("e" + "\u0301" * 1000, MIN_PART_CHARACTERS)
@example(" " * 1000 + "a", MIN_PART_CHARACTERS)
@example("\n" * 1000, MIN_PART_CHARACTERS)
@example("🇩🇪" * 300, MIN_PART_CHARACTERS)
def test_each_part_fits_and_together_they_are_the_whole(text: str, limit: int) -> None:
    found = split(text, limit)

    assert all(len(part) <= limit for part in found)
    assert all(part.strip() for part in found)
    assert bare("".join(found)) == bare(text)


@settings(deadline=None)
@given(
    st.lists(st.text("abcdefgh.,!?", min_size=1, max_size=MIN_PART_CHARACTERS), max_size=80), LIMITS
)
def test_a_word_that_fits_is_never_torn(words: list[str], limit: int) -> None:
    found = split(" ".join(words), limit)

    assert " ".join(found).split() == words


@settings(deadline=None)
@given(TEXT, LIMITS)
def test_what_is_seen_as_one_character_is_never_torn(text: str, limit: int) -> None:
    whole = regex.findall(r"\X", text)
    if max(map(len, whole), default=0) > limit // 2:
        return

    torn = [each for part in split(text, limit) for each in regex.findall(r"\X", part)]

    assert [each for each in torn if each.strip()] == [each for each in whole if each.strip()]


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=30))
@example("a\r\nb")
@example("🇹🇭🇮🇱🇩🇪🇫")
@example("👩🏽‍👩‍👧 🏴\U000e0067\U000e007f ❤\ufe0f")
@example("각\u1100\u1161\u11a8 नमस्ते क्ष กำ")
def test_what_unicode_holds_together_we_hold_together(text: str) -> None:
    borders = {found.end() for found in regex.finditer(r"\X", text)}

    for place in range(1, len(text)):
        assert place in borders or is_joined(text, place)


@settings(deadline=None)
@given(MARKED, LIMITS)
def test_marks_and_addresses_are_never_torn(text: str, limit: int) -> None:
    pieces = re.compile(
        r"\*bold words\*|_so so_|~gone~|`a b`|\*_both of them_\*|```\nif a:\n    b\n```|https://x\.test/a/b\?c=d"
    )
    found = split(text, limit)

    assert [each for part in found for each in pieces.findall(part)] == pieces.findall(text)
    assert bare("".join(found)) == bare(text)


@settings(deadline=None)
@given(st.sampled_from(["*", "_", "~", "`", "*_", "~*_"]), st.integers(60, 400), LIMITS)
def test_a_pair_of_marks_longer_than_a_part_is_closed_and_opened_again(
    marks: str, words: int, limit: int
) -> None:
    text = "Before. " + marks + "word " * words + "end" + marks[::-1] + " after"
    found = split(text, limit)

    assert all(len(part) <= limit for part in found)
    inside = [part for part in found if "word" in part]
    assert len(inside) > 1
    assert all(marks + "word" in part and marks[::-1] in part[len(marks) :] for part in inside)
    assert re.findall(r"\w+", "".join(found).replace("_", " ")) == re.findall(
        r"\w+", text.replace("_", " ")
    )


@settings(deadline=None)
@given(st.lists(st.text("ab {}=", max_size=15), min_size=20, max_size=60), st.integers(40, 120))
def test_each_part_of_a_long_code_block_is_a_code_block(lines: list[str], limit: int) -> None:
    text = "```\n" + "\n".join([*lines, "return"]) + "\n```"
    found = split(text, limit)

    assert all(len(part) <= limit for part in found)
    assert all(part.startswith("```\n") and part.endswith("\n```") for part in found)
    kept = [line for part in found for line in part.split("\n")[1:-1]]
    assert [line.rstrip() for line in kept if line.strip()] == [
        line.rstrip() for line in [*lines, "return"] if line.strip()
    ]


@settings(deadline=None)
@given(
    st.sampled_from(["\n", " ", "\u3000", "\r\n"]), st.integers(0, 60), st.integers(0, 60), LIMITS
)
def test_blanks_in_a_code_block_neither_hold_nor_hide_it(
    blank: str, before: int, after: int, limit: int
) -> None:
    text = "```" + blank * before + "code" + blank * after + "``` after"
    found = split(text, limit)

    assert all(len(part) <= limit for part in found)
    assert re.findall(r"\w+", " ".join(found)) == ["code", "after"]
    assert all(part.count("```") % 2 == 0 and re.search(r"\w", part) for part in found)


def test_lines_that_end_in_the_old_way_are_lines() -> None:
    assert split("first line here\r\nsecond line here\r\n", 24) == (
        "first line here",
        "second line here\r\n",
    )


@for_each(("text", "first"), table(__file__, "pauses"))
def test_it_is_cut_where_a_reader_would_pause(text: str, first: str) -> None:
    assert split(text, min(32, len(text) - 1))[0] == first


def test_an_indented_line_keeps_its_place_after_a_cut() -> None:
    assert split("• Lumphini Park, in town\n  • mornings", 30)[1] == "  • mornings"


def test_what_fits_is_not_touched_and_what_is_blank_is_nothing() -> None:
    assert split("  a \n", 100) == ("  a \n",)
    assert split(" \n ", 100) == ()


def test_a_part_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="room"):
        split("a" * 100, MIN_PART_CHARACTERS - 1)


class Counting:
    """Counts how often the cutter asks whether two characters belong together."""

    def __init__(self) -> None:
        self.asked = 0

    def joined(self, text: str, place: int) -> bool:
        self.asked += 1
        return is_joined(text, place)


@pytest.mark.parametrize(
    "piece",
    ["a", "a ", "e\u0301", " \u0301", "*a ", "`", "```", "a.", "🇩", "\n", "_a_ ", "http://"],
)
def test_the_work_grows_as_the_text_does(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    for size in (20_000, 80_000):
        counting = Counting()
        monkeypatch.setattr(parts, "is_joined", counting.joined)
        split(piece * (size // len(piece)), 4096)
        asked.append(counting.asked)

    assert asked[1] <= 5 * asked[0] + 1000
