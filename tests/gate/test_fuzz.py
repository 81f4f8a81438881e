"""Whatever comes in, the gate answers; and what it lets out stood in the reply, and is clean."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit import gate
from remit.gate import CLOSE, OPEN, Author, GateSecrets, Objection
from remit.model.reply import Deliverable, Reply
from tests.gate.corpus import deliverables, hostile
from tests.soak import SOAK

EXAMPLES = 20_000 if SOAK else 150
RUNS = 3_000_000 if SOAK else 20_000
MOST = 500
ENDS = " \t\r\n"

PIECES = [
    *(
        OPEN,
        CLOSE,
        "<Deliverable>",
        "< deliverable",
        "deliverable>",
        "&lt;/deliverable&gt;",
        "Hello",
    ),
    *("NONE", "None of them", "N/A", "`", "```", "~~~", "\n", "\r\n", "> ", "    ", "<!--", "-->"),
    *(
        *("<think>", "</think>", "<|im_end|>", "✓ STEP 1:"),
        *("[Your Name]", "task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA"),
    ),
    *(
        *("\u200b", "\u200c", "\u200d", "\u202e", "\u2066", "\u2069", "\u200f", "\xad"),
        *("\ufe0f", "\ud83d"),
    ),
    *(
        *("שלום", "می\u200cشود", "👨\u200d👩\u200d👧", "🏴\U000e0067", "नमस्ते", "สวัสดี"),
        *("葛\U000e0100", "\0", "."),
    ),
    *(
        *("sk-", "a1B2c3D4e5F6g7H8i9J0", "eyJ", "://", ":", "@", '"', "\\"),
        *("correct-horse-battery", "*"),
    ),
]
PLAIN = st.text(st.characters(codec=None), max_size=40)
TEXTS = st.lists(st.sampled_from(PIECES) | PLAIN, max_size=12).map("".join)
REPLIES = TEXTS | st.tuples(TEXTS, TEXTS, TEXTS).map(lambda t: f"{t[0]}{OPEN}{t[1]}{CLOSE}{t[2]}")
KNOWN = st.sampled_from(
    [GateSecrets(), GateSecrets(frozenset({"correct-horse-battery"}), ("one two three four five",))]
)
SEEDS = st.sampled_from([*(text for _, text in deliverables()), *(case.text for case in hostile())])


@settings(max_examples=EXAMPLES, deadline=None)
@given(REPLIES, KNOWN)
def test_what_passes_stood_between_the_tags(text: str, known: GateSecrets) -> None:
    judged = gate.judge(Reply(text), most=MOST, known=known)

    if isinstance(judged, Deliverable):
        before, _, rest = text.partition(OPEN)
        inside, _, after = rest.partition(CLOSE)
        assert judged.text == inside.strip(ENDS) != ""
        assert OPEN not in after + inside
        assert CLOSE not in before + after


@settings(max_examples=EXAMPLES, deadline=None)
@given(REPLIES | SEEDS, st.sampled_from(Author), KNOWN)
def test_what_passed_once_passes_again(text: str, author: Author, known: GateSecrets) -> None:
    for judged in (
        gate.judge(Reply(text), most=MOST, known=known),
        gate.judge_text(text, most=MOST, author=author, known=known),
    ):
        if isinstance(judged, Deliverable):
            by = Author.BRAIN if judged.text != text.strip(ENDS) else author
            assert gate.judge_text(judged.text, most=MOST, author=by, known=known) == judged


@settings(max_examples=EXAMPLES, deadline=None)
@given(REPLIES | SEEDS, KNOWN)
def test_a_hold_can_be_read(text: str, known: GateSecrets) -> None:
    judged = gate.judge(Reply(text), most=MOST, known=known)

    if isinstance(judged, Objection):
        assert judged.reason.isprintable()
        assert judged.reason.endswith(".")


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    SEEDS, st.integers(0, 400), st.sampled_from(["\u202e", "\0", "\U000e0041", "\ud800", "\u2060"])
)
def test_a_hidden_character_never_gets_out(text: str, place: int, char: str) -> None:
    hidden = text[:place] + char + text[place:]

    judged = gate.judge(Reply(f"{OPEN}{hidden}{CLOSE}"), most=10**6)

    assert isinstance(judged, Objection)


@settings(max_examples=EXAMPLES, deadline=None)
@given(TEXTS, TEXTS)
def test_an_owner_sees_no_more_objections_than_the_brain(text: str, more: str) -> None:
    brain = gate.judge_text(text + more, most=MOST)
    owner = gate.judge_text(text + more, most=MOST, author=Author.OWNER)
    warned = gate.judge_text(text + more, most=MOST, author=Author.WARNED)

    if isinstance(brain, Deliverable):
        assert owner == brain
    if isinstance(owner, Deliverable):
        assert warned == owner


if importlib.util.find_spec("atheris"):  # only where the fuzzer is: elsewhere there is no test

    @pytest.mark.soak
    @pytest.mark.timeout(7200)
    def test_a_fuzzer_that_sees_the_branches_finds_nothing() -> None:
        fuzzer = Path(__file__).with_name("fuzz_gate.py")
        command = [sys.executable, str(fuzzer), f"-runs={RUNS}", "-max_len=4096"]

        assert subprocess.run(command, check=False).returncode == 0
