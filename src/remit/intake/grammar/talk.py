"""What asks for nothing: greetings, thanks, chatter; and which sentences ask or state something."""

from collections.abc import Sequence
from typing import Final

from remit.intake.grammar.acts import Act
from remit.intake.grammar.heads import skip_leading, small_talk
from remit.intake.grammar.sentences import Said
from remit.intake.grammar.texts import is_statement
from remit.intake.lexicon.shape import Does, Talk
from remit.intake.lexicon.words import Kind

_NEAR: Final = 8  # words within which a sentence shows what it is
_ASKING: Final = frozenset("?¿")


def talk_of(said: Said, start: int, acts: Sequence[Act]) -> Talk | None:
    """Say what sort of talk a sentence is; None when it asks for something to be done."""
    asked = any(act.head for act in acts)
    if not asked and (talk := small_talk(said, start, len(said.tokens))):
        return talk
    if _asks(said, start, acts):
        return Talk.QUESTION
    if _states(said, start, acts):
        return Talk.STATEMENT
    return None


def _asks(said: Said, start: int, acts: Sequence[Act]) -> bool:
    at = _after_links(said, start)
    language = said.language
    marked = any(token.key in _ASKING for token in said.tokens[start:] if token.kind is Kind.MARK)
    if frame := language.frames.at(said.keys, at):
        asked = language.ability.at(said.keys, frame[1])
        return marked and asked is not None and not _sends_later(acts[1:])
    asking = language.asking.at(said.keys, at)
    if marked:
        asking = asking or language.auxiliary.at(said.keys, at)
    if asking is None:
        return marked and not any(act.head for act in acts)
    first = acts[0].head if acts else None
    if first is not None and first.start == at and first.end > asking[1]:
        return False
    return not _sends_later(acts)


def _states(said: Said, start: int, acts: Sequence[Act]) -> bool:
    at, framed = skip_leading(said, start, len(said.tokens))
    if framed or any(act.head for act in acts):
        return False
    return is_statement_at(said, at, len(said.tokens))


def is_statement_at(said: Said, at: int, end: int) -> bool:
    """Whether something is told here, and not asked for: "I need to go", not "I need a list"."""
    language = said.language
    if wants := language.wants.at(said.keys, at):
        return language.wants_not.at(said.keys, wants[1]) is not None
    if at >= end or language.frames.at(said.keys, at):
        return False
    near = range(at, min(end, at + _NEAR))
    if said.keys[at] not in language.subjects and any(
        language.musts.at(said.keys, n) for n in near
    ):
        return False  # "the report must be translated"
    return language.stating.at(said.keys, at) is not None and is_statement(said, at, end)


def _sends_later(acts: Sequence[Act]) -> bool:
    heads = [act.head for act in acts if act.head and not act.head.negated]
    return any(head.verb.does in (Does.SEND, Does.REMIND) for head in heads)


def _after_links(said: Said, at: int) -> int:
    while at < len(said.tokens):
        link = said.language.links.at(said.keys, at)
        if link:
            at = link[1]
        elif said.tokens[at].kind is Kind.MARK:
            at += 1
        else:
            break
    return at
