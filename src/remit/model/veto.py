"""Words of the owner that hold a message back from others until the owner confirms it."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

_MOST_SHOWN: Final = 3


class VetoKind(StrEnum):
    """What some words of a message express."""

    DENIAL = "denial"  # "don't"
    HOLD = "hold"  # "wait with that"
    RETRACTION = "retraction"  # "scratch that"
    CONDITION = "condition"  # "if", "as soon as"
    HYPOTHESIS = "hypothesis"  # "should I", "maybe"
    REPORTED = "reported"  # "she said"
    LANGUAGE = "language"  # not in a language that Remit reads
    ANSWER = "answer"  # the text came as an answer to a question, and is shown before it is sent
    # A model's reading that code cannot confirm:
    MODEL_TEXT = "model_text"  # the text is not in the owner's words
    RECIPIENT = "recipient"  # the person is named, perhaps not as the recipient
    TEXT = "text"  # the text may be longer or shorter
    TIME = "time"  # code reads a different time
    UNCOVERED = "uncovered"  # some words are in no field of the reading


class VetoCue(Struct, frozen=True):
    """The words, and where they stand in the message."""

    kind: VetoKind
    words: str
    start: int
    end: int


_SAYS: Final = "Your message says {}."
_SENTENCES: Final = {
    VetoKind.LANGUAGE: "Your message is in a language that Remit does not read.",
    VetoKind.ANSWER: "You gave this text in answer to a question.",
    VetoKind.MODEL_TEXT: "The wording is not yours.",
    VetoKind.RECIPIENT: "It is not certain that {} is to get it.",
    VetoKind.TEXT: "It is not certain where the text begins and ends.",
    VetoKind.TIME: "It is not certain when {} is.",
    VetoKind.UNCOVERED: "Your message also says {}.",
}


def veto_sentence(
    cues: Sequence[VetoCue],
    sentences: Mapping[VetoKind, str] = _SENTENCES,
    other: str = _SAYS,
    and_: str = "and",
) -> str:
    """Return why others get nothing without the owner's approval; `sentences` may be translated."""
    by_kind: dict[str, list[str]] = {}
    for cue in cues:
        sentence = sentences.get(cue.kind, other)
        words = by_kind.setdefault(sentence, [])
        if f"“{cue.words}”" not in words:
            words.append(f"“{cue.words}”")
    return " ".join(
        sentence.format(f" {and_} ".join(words[:_MOST_SHOWN]))
        for sentence, words in by_kind.items()
    )
