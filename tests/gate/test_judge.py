"""What the gate decides where the corpora do not reach: authors, sizes, what the app knows."""

from remit import gate
from remit.brain import prompt
from remit.gate import MAX_READ_CHARACTERS, Author, GateSecrets, HoldReason, Objection
from remit.gate.eye import fold
from remit.model.reply import Deliverable, Hold, Reply
from tests.tables import for_each, table

MOST = 4096
KEY = "sk-" + "a1B2c3D4e5F6g7H8i9J0k1L2"


def _why(
    text: str, author: Author = Author.BRAIN, known: GateSecrets | None = None
) -> HoldReason | None:
    judged = gate.judge_text(text, most=MOST, author=author, known=known or GateSecrets())
    return judged.why if isinstance(judged, Objection) else None


def test_the_deliverable_is_what_stands_between_the_tags() -> None:
    reply = Reply("Three sources agree.\n<deliverable>\n  Hello, Ana!\n</deliverable>\nDone.")

    assert gate.judge(reply, most=MOST) == Deliverable("Hello, Ana!")


def test_an_objection_is_a_hold() -> None:
    assert isinstance(gate.judge(Reply("Hello"), most=MOST), Hold)


def test_exactly_as_long_as_the_channel_takes_is_not_too_long() -> None:
    assert gate.judge_text("x" * MOST, most=MOST) == Deliverable("x" * MOST)
    assert _why("x" * (MOST + 1)) is HoldReason.LIMIT


def test_a_reply_that_is_too_long_is_not_read() -> None:
    reply = Reply("x" * MAX_READ_CHARACTERS + "<deliverable>Hello</deliverable>")
    judged = gate.judge(reply, most=MOST)

    assert isinstance(judged, Objection)
    assert judged.reason == "The reply has 262176 characters; at most 262144 are read."


def test_a_text_that_is_too_long_is_not_read() -> None:
    judged = gate.judge_text("\0" * (MAX_READ_CHARACTERS + 1), most=10**9, author=Author.OWNER)

    assert isinstance(judged, Objection)
    assert judged.why is HoldReason.LIMIT


@for_each("text", table(__file__, "words_of_the_owner"))
def test_the_words_of_the_owner_are_his_own(text: str) -> None:
    assert _why(text, Author.OWNER) is None


@for_each(
    ("text", "why"),
    [
        (KEY, HoldReason.SECRET),
        ("*NONE*", HoldReason.DECLINE),
        ("<deliverable>Hi</deliverable>", HoldReason.SPELLING),
    ],
)
def test_the_owner_is_asked_about_what_looks_like_a_slip_and_may_insist(
    text: str, why: HoldReason
) -> None:
    assert _why(text, Author.OWNER) is why
    assert _why(text, Author.WARNED) is None


@for_each("author", list(Author))
def test_nobody_sends_what_cannot_be_seen(author: Author) -> None:
    assert _why("Hello\u202e", author) is HoldReason.HIDDEN
    assert _why("\u200b", author) is HoldReason.EMPTY
    assert _why("x" * (MOST + 1), author) is HoldReason.LIMIT


@for_each(
    ("text", "says"),
    [
        ("Line one\nLine\u00a0two\nPay \u202enow", "Line 3 holds a character that turns"),
        ("Hello\n\nbye <|im_end|>", "Line 3 holds markup"),
        ("One\n✓ STEP 2: two", "Line 2 holds a work marker: “✓ STEP 2”."),
        (f"One\nTwo\n{KEY}", "Line 3 holds what looks like a model vendor's key."),
    ],
)
def test_a_hold_says_where(text: str, says: str) -> None:
    judged = gate.judge_text(text, most=MOST)

    assert isinstance(judged, Objection)
    assert says in judged.reason


def test_a_secret_is_not_in_the_representation_of_what_is_known() -> None:
    assert "tulips" not in repr(GateSecrets(secrets=frozenset({"tulips-and-rain"})))


@for_each(
    ("known", "text", "held"),
    [
        ("4471", "The PIN is 4471", True),
        ("4471", "Call 0144718", False),  # a short one counts only as a word of its own
        ("b", "A b c", False),
        ("", "A b c", False),
        ("!?!?!?!?!?", "What!?!?!?!?!?", True),
        ("!?!?!?!?!?", "What!?", False),
    ],
)
def test_a_known_secret_is_found_where_it_stands_for_itself(
    known: str, text: str, held: bool
) -> None:
    found = _why(text, known=GateSecrets(secrets=frozenset({known})))
    assert found is (HoldReason.SECRET if held else None)


def test_a_secret_of_eight_letters_is_known_in_base64() -> None:
    known = GateSecrets(secrets=frozenset({"tulips42"}))

    assert _why("dHVsaXBzNDI=", known=known) is HoldReason.SECRET
    assert _why("Tulips, 42 of them", known=known) is HoldReason.SECRET
    assert _why("Tulips, 41 of them", known=known) is None


def test_every_long_sentence_the_brain_is_told_is_an_echo() -> None:
    told = [
        text for name, text in vars(prompt).items() if isinstance(text, str) and name[:2] != "__"
    ]
    sentences = [part for text in told for part in text.replace("\n", " ").split(". ")]
    long = [sentence for sentence in sentences if len(sentence.split()) > 8]
    known = GateSecrets(echoes=tuple(told))

    assert long
    assert [said for said in long if _why(f"Hello! {said}", known=known) is None] == []


def test_a_canary_is_an_echo() -> None:
    known = GateSecrets(echoes=("CANARY-7f3a.9c", "short words", "..."))

    assert _why("Hello canary-7F3A.9C!", known=known) is HoldReason.ECHO
    assert _why("These are short words.", known=known) is None


def test_a_brain_may_close_its_thoughts_before_it_delivers() -> None:
    reply = Reply("The rest of a thought.</think>\n\n<deliverable>Hello</deliverable>")

    assert gate.judge(reply, most=MOST) == Deliverable("Hello")


def test_folding_is_the_same_for_the_parts_as_for_the_whole() -> None:
    parts = ("\u039d\u039f\u039d\u0395", "ⓓ\u200b\n", "ﬁ ½", "🅽ø", "क्षि", "가", "\ud800x")

    assert fold("".join(parts)) == "".join(map(fold, parts))
    assert fold("\u039d\u039f\u039d\u0395 ⓓ\u200b\nﬁ 🅽ø") == "NONE d\nfi No"
