"""What asks for nothing: greetings, thanks, chatter; and which sentences ask or state something."""

from collections.abc import Sequence
from typing import Final

from remit.intake.grammar.acts import Act
from remit.intake.grammar.heads import hidden_request, skip_leading, small_talk
from remit.intake.grammar.sentences import Said
from remit.intake.grammar.spoken import read_time
from remit.intake.grammar.texts import is_statement
from remit.intake.lexicon.shape import Does, Talk
from remit.language.tokens import Kind

_NEAR: Final = 8  # words within which a sentence shows what it is
_ASKING: Final = frozenset("?¿")


def talk_of(said: Said, start: int, acts: Sequence[Act]) -> Talk | None:
    """Say what sort of talk a sentence is; None when it asks for something to be done."""
    asked = any(act.head for act in acts)
    if _corrects(said, start, acts):
        return Talk.CONTROL
    if not asked and (talk := small_talk(said, start, len(said.tokens))):
        return talk
    if _asks(said, start, acts):
        return Talk.QUESTION
    if _states(said, start, acts):
        return Talk.STATEMENT
    return None


def _corrects(said: Said, start: int, acts: Sequence[Act]) -> bool:
    """Whether it changes what was asked for before: "no, I meant Tuesday", "forget it"."""
    at, language = start, said.language
    while at < len(said.tokens):
        step = language.talk.at(said.keys, at) or language.links.at(said.keys, at)
        if _may_correct(said, at) or (step is None and said.is_word(at)):
            break
        at = step[1] if step else at + 1
    rather = language.rather.at(said.keys, at)
    spoken = read_time(said, rather[1]) if rather else None
    if spoken and _is_over(said, spoken.end):
        return not _sends_later(acts)
    found = language.corrections.at(said.keys, at)
    if found is None or language.not_corrections.at(said.keys, found[1]):
        return False
    points = language.refers.at(said.keys, found[1] - 1) is not None
    if points and not (_is_over(said, found[1]) or read_time(said, found[1])):
        return False  # "cancel that subscription"
    return not _sends_later(acts)


def _may_correct(said: Said, at: int) -> bool:
    language = said.language
    return bool(language.corrections.at(said.keys, at) or language.rather.at(said.keys, at))


def _is_over(said: Said, at: int) -> bool:
    """Whether nothing follows but links, thanks and marks."""
    at = _after_links(said, at)
    return at >= len(said.tokens) or small_talk(said, at, len(said.tokens)) is not None


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
    if not marked and hidden_request(said, at, len(said.tokens)) is not None:
        return False  # "when Bob replies to me send Alice the list"
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
    if at + 1 < end and said.is_word(at) and said.keys[at + 1] in language.was:
        return True  # "work was exhausting"
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
