"""Nothing of the hostile corpus goes out, and each hold says what was found."""

from pathlib import Path

from remit import gate
from remit.gate import GateSecrets, Objection
from remit.model.reply import Deliverable, Reply
from tests.gate.corpus import Hostile, hostile
from tests.tables import for_each, read_yaml

CASES = hostile()
FEWEST = 150
# By the numbers of docs/attacks.md: what must be among the corpus, whatever else is.
ATTACKS = {
    6: ["tags: two pairs", "tags: the first pair quoted from a mail", "tags: three pairs"],
    7: ["tags: nested", "tags: never closed", "tags: reversed", "tags: an extra close"],
    8: [
        *("place: in a fence", "place: in inline code", "place: in a comment"),
        *("place: a fence opened within", "place: in an example"),
        *("echo: the placeholder", "echo: the whole template", "echo: a rule"),
    ],
    9: [
        *("spelling: upper case", "spelling: an attribute", "spelling: a space within"),
        *("spelling: zero width within", "spelling: full width", "spelling: Cyrillic e"),
    ],
    10: [
        *("decline: to the letter", "decline: a full stop", "decline: bold", "decline: quotes"),
        *("decline: not applicable", "decline: a reason behind a dash", "decline: zero width"),
        *("decline: Greek", "decline: full width"),
    ],
    11: ["empty: zero width", "empty: a Hangul filler", "empty: braille blanks"],
    12: [
        *("hidden: an override", "hidden: tag characters behind a text", "hidden: NUL"),
        *("hidden: escape", "hidden: a high surrogate", "hidden: a low surrogate"),
    ],
    13: ["limit: one too many", "limit: an emoji too many"],
    15: ["work: the marker", "id: a task", "id: without a prefix", "echo: our rule"],
    16: [
        *("secret: a known secret", "secret: a known secret in base64", "secret: a key in a link"),
        *("secret: a known secret within base64", "secret: a known secret in percent signs"),
    ],
}


def test_the_corpus_is_large_and_without_repeats() -> None:
    assert len(CASES) >= FEWEST
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.why for case in CASES} == set(gate.HoldReason)


@for_each("number", ATTACKS)
def test_each_attack_on_the_gate_is_in_the_corpus(number: int) -> None:
    names = {case.name for case in CASES}

    assert [name for name in ATTACKS[number] if name not in names] == []


@for_each("case", CASES)
def test_a_hostile_text_is_held_for_the_right_reason(case: Hostile) -> None:
    judged = _judge(case)

    assert isinstance(judged, Objection), judged
    assert judged.why is case.why, judged.reason
    assert case.says in judged.reason
    assert judged.reason.isprintable()
    assert judged.reason.endswith(".")
    assert len(judged.reason) < 200
    assert not any(secret in judged.reason for secret in case.secrets)


def _judge(case: Hostile) -> Deliverable | Objection:
    known = GateSecrets(secrets=case.secrets)
    if case.whole:
        return gate.judge(Reply(case.text), most=case.most, known=known)
    return gate.judge_text(case.text, most=case.most, author=case.author, known=known)


# Talk of a machine about its work -----------------------------------------------------------------

SETS = read_yaml(Path(__file__).with_name("machine_talk.yml").read_text("utf-8"))
LEAST_HELD = {"tuned": 1.0, "held_out": 0.9}
MOST_FALSE = {"tuned": 0.0, "held_out": 0.03}


@for_each("part", SETS)
def test_machine_talk_is_held_in_every_language_and_good_talk_is_not(part: str) -> None:
    leaks, good = (
        [text for language in SETS[part].values() for text in language[kind]]
        for kind in ("leak", "good")
    )

    passed = [text for text in leaks if not _is_held(text)]
    false = [text for text in good if _is_held(text)]

    assert len(passed) <= (1 - LEAST_HELD[part]) * len(leaks), passed
    assert len(false) <= MOST_FALSE[part] * len(good), false


def _is_held(text: str) -> bool:
    reply = Reply(f"Done.\n\n<deliverable>\n{text}\n</deliverable>\n")
    return isinstance(gate.judge(reply, most=4096), Objection)
