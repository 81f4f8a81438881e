"""What is heard of a brain while it thinks: whole lines, seldom enough, and ticks at once."""

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.brain import progress
from remit.brain.progress import MAX_PIECE_CHARACTERS, ProgressListener
from remit.errors import Transient
from remit.testing import FrozenClock
from tests.tables import for_each, table

SECOND = timedelta(seconds=1)


class Listener:
    """Keeps what it is told, as the journal would."""

    def __init__(self, items: int = 3) -> None:
        self.clock = FrozenClock()
        self.told: list[tuple[str, tuple[int, ...]]] = []
        self.progress = ProgressListener(self.tell, items, self.clock.now, _redact)

    async def tell(self, text: str = "", done: Sequence[int] = ()) -> None:
        text.encode()  # as whoever writes it down must
        self.told.append((text, tuple(done)))

    @property
    def texts(self) -> list[str]:
        return [text for text, _ in self.told]

    @property
    def done(self) -> list[int]:
        return [n for _, done in self.told for n in done]


def _redact(text: str) -> str:
    return text.replace("sk-canary", "…")


# Telling ------------------------------------------------------------------------------------------


async def test_whole_lines_are_told_once_a_second_and_the_rest_at_the_end() -> None:
    listener = Listener()

    async with listener.progress as heard:
        await heard.hear("One.\nTw")
        listener.clock.advance(SECOND)
        await heard.hear("o.\nThr")
        await heard.hear("ee.\nFour")
        assert listener.texts == ["One.\nTwo."]
        listener.clock.advance(SECOND)
        await heard.hear(".")
        assert listener.texts == ["One.\nTwo.", "Three."]

    assert listener.texts == ["One.\nTwo.", "Three.", "Four."]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Transient("The line went dead."), ["One.\nHalf a li"]),
        (asyncio.CancelledError(), []),  # what is cancelled writes nothing more
        (None, []),  # what is said at once is not told before its step
    ],
)
async def test_a_thought_that_breaks_off_is_told_to_its_end(
    error: BaseException | None, told: list[str]
) -> None:
    listener = Listener()

    with pytest.raises(type(error)) if error else nullcontext():
        async with listener.progress as heard:
            listener.clock.advance(SECOND)  # it thought before it spoke
            await heard.hear("One.\n")
            await heard.hear("Half a li" if error else "Two.\n")
            if error:
                raise error

    assert listener.texts == told


async def test_much_is_told_before_its_second_and_only_an_endless_line_is_cut() -> None:
    listener = Listener()
    long = "word " * (MAX_PIECE_CHARACTERS // 2)

    async with listener.progress as heard:
        await heard.hear("x" * (MAX_PIECE_CHARACTERS - 1) + "\n")
        await heard.hear(long + "\n")

    assert listener.texts[0] == "x" * (MAX_PIECE_CHARACTERS - 1)
    assert "".join(listener.texts[1:]).replace("\n", "") == long
    assert all(text == "" or not text.startswith("ord") for text in listener.texts)


@given(
    text=st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Co", "Cn"]) | st.just("\n")),
    cuts=st.lists(st.integers(0, 200)),
    pauses=st.booleans(),
)
def test_however_a_text_is_cut_its_lines_are_told_in_order_and_once(
    text: str, cuts: list[int], pauses: bool
) -> None:
    text = text.replace("<", "").replace(">", "")
    listener = Listener()
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})

    async def go() -> None:
        async with listener.progress as heard:
            await heard.hear("Start.\n")
            listener.clock.advance(SECOND)
            for start, end in pairwise(places):
                await heard.hear(text[start:end])
                listener.clock.advance(SECOND if pauses else timedelta(0))

    asyncio.run(go())
    said = [line.strip() for told in listener.texts for line in told.split("\n")]
    assert [line for line in said if line] == [
        line.strip()
        for line in _as_told(f"Start.\n{text}" if text else "").split("\n")
        if line.strip()
    ]


def _as_told(text: str) -> str:
    return progress.readable_text(text)


async def test_secrets_and_half_characters_are_not_told_and_tags_are_harmless() -> None:
    listener = Listener()

    async with listener.progress as heard:
        await heard.hear("My key is sk-ca")
        listener.clock.advance(SECOND)
        await heard.hear("nary.\n<deliverable>\ud83d")
        listener.clock.advance(SECOND)
        await heard.hear("\ude00 Hi \ud800</deliverable>\n")

    whole = "\n".join(listener.texts)
    assert "sk-canary" not in whole
    assert "😀 Hi" in whole
    assert "<deliverable>" not in whole
    assert "deliverable" in whole


# Ticking ------------------------------------------------------------------------------------------


async def test_a_marker_ticks_at_once_and_brings_what_was_said_before_it() -> None:
    listener = Listener()

    async with listener.progress as heard:
        await heard.hear("I look.\n✓ ST")
        assert listener.told == []
        await heard.hear("EP 1: look")
        assert listener.told == [("I look.", (1,))]
        await heard.hear("ed\n✓ STEP 1: again\n✓ STEP 3: wrote\n")

    assert listener.done == [1, 3]
    assert listener.texts == ["I look.", "✓ STEP 1: looked\n✓ STEP 1: again\n✓ STEP 3: wrote"]


@for_each("line", table(__file__, "markers"))
def test_a_marker_is_known_as_models_write_it(line: str) -> None:
    assert progress.ticked_items(f"I worked.\n{line}\nMore.", 3) == (2,)


@for_each("text", table(__file__, "no_markers"))
def test_what_only_looks_like_a_marker_ticks_nothing(text: str) -> None:
    assert progress.ticked_items(text, 3) == ()


def test_a_marker_counts_again_after_the_block_and_after_the_message() -> None:
    text = (
        "```x```\n✓ STEP 1: a\n```\n✓ STEP 2: b\n```\n<deliverable>\nc\n</deliverable>\n✓ STEP 3: d"
    )

    assert progress.ticked_items(text, 3) == (1, 3)


async def test_the_middle_of_an_endless_line_is_not_the_start_of_one() -> None:
    listener = Listener()

    async with listener.progress as heard:
        await heard.hear("x" * (MAX_PIECE_CHARACTERS - 1) + " ")
        await heard.hear("✓ STEP 1: not so\n✓ STEP 2: so\n")

    assert listener.done == [2]


@given(
    lines=st.lists(
        st.sampled_from(
            [
                "✓ STEP 1: a",
                "✓ STEP 2: b",
                "```",
                "~~~",
                "<deliverable>",
                "</deliverable>",
                "words",
                "",
                "y" * MAX_PIECE_CHARACTERS,
            ]
        )
    ),
    size=st.integers(1, 50),
)
def test_who_listens_ticks_the_same_as_who_reads_the_reply(lines: list[str], size: int) -> None:
    text, listener = "\n".join(lines), Listener(2)

    async def go() -> None:
        async with listener.progress as heard:
            for start in range(0, len(text), size):
                await heard.hear(text[start : start + size])

    asyncio.run(go())
    assert tuple(listener.done) == progress.ticked_items(text, 2)


async def test_of_an_answer_that_is_never_taken_no_more_is_told() -> None:
    listener = Listener()

    await listener.progress.hear("one line " * 100_000 + "\n")
    told = len(listener.told)
    for _ in range(20):
        await listener.progress.hear("more and more of it\n" * 50_000)

    assert 0 < told == len(listener.told) < 1_000
