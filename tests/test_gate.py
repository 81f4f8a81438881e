"""Nothing gets past the gate but one clean deliverable; what is good gets past it unchanged."""

import sys
from collections.abc import Callable
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.gate import CLOSE, MOST_READ, OPEN, judge, judge_text
from remit.model.reply import Deliverable, Hold, Reply
from tests.replies import GOOD, HOSTILE

MOST = 4096
PIECES = st.sampled_from(
    [
        *(OPEN, CLOSE, "<deliverable", "deliverable>", "NONE", "none.", "\u200b", "\u202e", "```"),
        *("`", "<!--", "-->", "\n", "\r\n", " ", "hi", "\ud800", "\x00", "\u3164", "🏴", "é", "<"),
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join))


def seen(text: str, most: int = MOST) -> str | None:
    """What gets out, or None."""
    judged = judge(Reply(text), most=most)
    return judged.text if isinstance(judged, Deliverable) else None


def objection(text: str, most: int = MOST) -> str:
    judged = judge(Reply(text), most=most)
    assert isinstance(judged, Hold), judged
    return judged.reason


@pytest.mark.parametrize(("text", "why"), HOSTILE.values(), ids=HOSTILE)
def test_what_is_hostile_broken_or_declined_is_held_for_its_reason(text: str, why: str) -> None:
    assert why in objection(text)


@pytest.mark.parametrize("good", GOOD, ids=range(len(GOOD)))
def test_what_is_good_goes_out_to_the_letter(good: str) -> None:
    assert seen(f"I thought about it.\n\n{OPEN}{good}{CLOSE}\nThat is it.") == good
    assert judge_text(good, most=MOST) == Deliverable(good)


def test_there_are_enough_good_ones_to_notice_a_false_alarm() -> None:
    assert len(set(GOOD)) >= 40


def test_space_around_is_not_part_of_the_message() -> None:
    assert seen(f"{OPEN}\n\n  Hi,\n  you \n{CLOSE}") == "Hi,\n  you"


def test_what_stands_outside_the_tags_never_goes_out() -> None:
    assert seen(f"SECRET {OPEN}Hi{CLOSE} SECRET") == "Hi"


@pytest.mark.parametrize("size", [MOST, MOST + 1])
def test_a_message_is_never_cut_to_fit(size: int) -> None:
    text = f"{OPEN}{'x' * size}{CLOSE}"

    if size > MOST:
        assert (
            objection(text) == f"The deliverable has {size} characters; the channel takes {MOST}."
        )
    else:
        assert seen(text) == "x" * size


def test_a_reply_is_read_up_to_its_limit_and_not_beyond() -> None:
    whole = f"{OPEN}Hi{CLOSE}".rjust(MOST_READ)

    assert seen(whole) == "Hi"
    assert "at most 262144 are read" in objection(" " + whole)


def test_a_code_block_in_the_message_is_the_message() -> None:
    body = "Run this:\n```\nmake test\n```"

    assert seen(f"```\nold\n```\n{OPEN}{body}{CLOSE}") == body
    assert seen(f"as `it` was <!-- note --> {OPEN}{body}{CLOSE}") == body


@given(TEXTS, st.integers(min_value=1, max_value=50))
def test_the_gate_answers_whatever_it_is_given(text: str, most: int) -> None:
    for judged in (judge(Reply(text), most=most), judge_text(text, most=most)):
        if isinstance(judged, Hold):
            assert judged.reason.endswith((".", "sent."))
        else:
            assert judged.text in text
            assert 1 <= len(judged.text) <= most
            assert not any(ord(char) < 32 and char not in "\n\t\r" for char in judged.text)


@given(TEXTS)
def test_what_gets_out_gets_out_again(text: str) -> None:
    """The owner sees what was judged; judged once more it must be the same."""
    judged = judge_text(text, most=MOST)
    if isinstance(judged, Deliverable):
        assert judge_text(judged.text, most=MOST) == judged


@given(TEXTS, TEXTS)
def test_two_pairs_are_never_guessed_between(first: str, second: str) -> None:
    text = f"{OPEN}{first}{CLOSE} {OPEN}{second}{CLOSE}"

    assert isinstance(judge(Reply(text), most=MOST), Hold)


WORST: dict[str, Callable[[int], str]] = {
    "unclosed": lambda n: OPEN * (n // len(OPEN)),
    "closed": lambda n: CLOSE * (n // len(CLOSE)),
    "half tags": lambda n: "<deliverable" * (n // 12),
    "brackets": lambda n: "<" * n,
    "brackets and spaces": lambda n: "< " * (n // 2),
    "one bracket, spaces": lambda n: "<" + " " * (n - 1),
    "slashes": lambda n: f"{OPEN}<" + "/" * (n - 30) + CLOSE,
    "markup before none": lambda n: f"{OPEN}" + "*" * (n - 40) + f"NONE{CLOSE}",
    "fences": lambda n: "```\n" * (n // 4 - 10) + f"{OPEN}x{CLOSE}",
    "comments": lambda n: "<!--" * (n // 4 - 10) + f"{OPEN}x{CLOSE}",
    "hidden": lambda n: f"{OPEN}" + "\u200d" * (n - 40) + CLOSE,
    "expanding": lambda n: "\ufdfa" * n,
    "flags": lambda n: f"{OPEN}" + "🏴" * (n - 40) + CLOSE,
}


def calls(text: str) -> int:
    """How many functions are called to judge a text: what a longer text may cost more."""
    count = 0

    def tally(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        del frame, arg
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(tally)
    try:
        judge(Reply(text), most=MOST)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("make", WORST.values(), ids=WORST)
def test_twice_the_text_is_at_most_twice_the_work(make: Callable[[int], str]) -> None:
    small, large = calls(make(4_000)), calls(make(8_000))

    assert large <= 2.1 * small + 100


@pytest.mark.timeout(30)  # a gate that looks back would take hours
@pytest.mark.parametrize("make", WORST.values(), ids=WORST)
def test_the_longest_text_is_read_in_passing(make: Callable[[int], str]) -> None:
    judge(Reply(make(MOST_READ)[:MOST_READ]), most=MOST)
