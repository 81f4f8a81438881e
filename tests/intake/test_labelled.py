"""The labelled messages: those the grammar was tuned to, and those it had not seen."""

import pytest

from remit.intake.lexicon import LANGUAGES
from remit.language.tokens import Kind, tokenize
from tests.intake.labelled import Message, Score, messages, score

# The last two were written by strangers, and read blind once.
TUNED = ("tuned", "mended", "fresh", "blind")
HALVES = (*TUNED, "held_out", "unseen")  # the last measures: nothing is tuned to it
ALL = [message for half in HALVES for message in messages(half)]
AT_LEAST = 0.9

# All the words that may stand between clauses.
LINKS = frozenset[str]().union(
    *(
        phrases.words
        for each in LANGUAGES
        for phrases in (each.links, each.frames, each.not_nots, each.wants, each.with_)
    )
)


def test_there_are_enough_messages_and_none_twice() -> None:
    said = [message.say for message in ALL]

    assert len(said) >= 150
    assert len(set(said)) == len(said)
    assert all(len(messages(half)) >= 60 for half in HALVES)


@pytest.mark.parametrize("half", HALVES)
def test_nine_of_ten_clauses_and_fields_are_read_right(half: str) -> None:
    total = sum((score(message) for message in messages(half)), Score())

    assert total.clauses_right / total.clauses >= AT_LEAST, total.wrong
    assert total.fields_right / total.fields >= AT_LEAST, total.wrong


@pytest.mark.parametrize("message", ALL, ids=lambda message: message.say[:40])
def test_no_clause_is_dropped_in_silence(message: Message) -> None:
    found = message.read()
    asked = {question.clause for question in found.questions}

    assert all(clause.became or at in asked for at, clause in enumerate(found.clauses))
    between = {
        token.key
        for token in tokenize(message.say)
        for gap in found.connectives
        if token.kind in (Kind.WORD, Kind.QUOTE, Kind.ADDRESS)
        and gap.start <= token.start < gap.end
    }
    assert between - {"x"} <= LINKS  # the x of a ticked box
