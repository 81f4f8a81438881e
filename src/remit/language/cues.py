"""Finds words that deny, hold, retract, condition, suppose or report.

The words are data (`en.toml`, `de.toml`, `es.toml`). The search is generous: a false match costs
the owner one tap, a missed one an unwanted message.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.language.files import (
    LANGUAGES,
    Phrases,
    phrase_of,
    phrases_in_all,
    plain_phrases,
    section,
    words_in_all,
)
from remit.language.tokens import Token, TokenKind, keys_of, tokenize
from remit.model.veto import VetoCue, VetoKind

_KINDS: Final = (
    VetoKind.DENIAL,
    VetoKind.HOLD,
    VetoKind.RETRACTION,
    VetoKind.CONDITION,
    VetoKind.HYPOTHESIS,
    VetoKind.REPORTED,
)


class CueWords(Struct, frozen=True, eq=False):
    """The cues of one language."""

    code: str
    kinds: Phrases[VetoKind]
    firm: Phrases[bool]  # they count inside a text to be sent, too
    mild: Phrases[bool]  # firm ones that a text may well hold
    harmless: Phrases[bool]  # they hold the words of a cue and are none
    own: Phrases[bool]  # they count in a message of this language alone
    asking: Phrases[bool]  # behind these and a person an "if" is part of what is asked
    asked: Phrases[bool]


@cache
def cue_words() -> tuple[CueWords, ...]:
    """Return the cues of every language, read once."""
    return tuple(_load(code) for code in LANGUAGES)


def _load(code: str) -> CueWords:
    table = section(code, "cues")
    kinds = {"|".join(table[kind.value]): kind for kind in _KINDS}
    known, limits = Phrases(kinds), section(code, "conditions")
    more = (each for name in ("only_if", "after_ok") for each in limits[name])
    kinds["|".join(each for each in more if not known.at(phrase_of(each), 0))] = VetoKind.CONDITION
    return CueWords(
        code,
        Phrases(kinds),
        **{
            name: plain_phrases(*table[name])
            for name in ("firm", "mild", "harmless", "own", "asking", "asked")
        },
    )


def find_cues(
    tokens: Sequence[Token],
    codes: Collection[str],
    people: Collection[int] = (),
    beside_people: Callable[[], Collection[int]] = tuple,
) -> tuple[VetoCue, ...]:
    """Return the cues in a message of these languages, in order.

    `people` are the numbers of tokens that name a person, `beside_people` returns those that may
    stand next to them.
    """
    signs = words_in_all("cues", "signs")
    found: dict[int, VetoCue] = {
        token.start: VetoCue(VetoKind.DENIAL, token.text, token.start, token.end)
        for token in tokens
        if token.text in signs
    }
    keys = tuple(_squeeze(key) for key in keys_of(tokens))
    asked = tuple(_asked_areas(tokens, keys, people, beside_people))
    message = _Message(tokens, keys, people, asked)
    for language in cue_words():
        for cue in _of_language(language, message, own=language.code in codes):
            found.setdefault(cue.start, cue)
    return tuple(found[start] for start in sorted(found))


class _Message(Struct, frozen=True):
    """A message, and what is known of its tokens."""

    tokens: Sequence[Token]
    keys: Sequence[str]
    people: Collection[int]
    asked: Sequence[range]  # questions that somebody is to be asked


def _asked_areas(
    tokens: Sequence[Token],
    keys: Sequence[str],
    people: Collection[int],
    beside_people: Callable[[], Collection[int]],
) -> Iterator[range]:
    """Yield the questions that somebody is to be asked, in any language."""
    for language in cue_words():
        for at, key in enumerate(keys):
            if key in language.asked.firsts and _is_asked(
                language, keys, at, people, beside_people()
            ):
                yield range(at, _clause_end(tokens, keys, at))


def _of_language(language: CueWords, message: _Message, *, own: bool) -> Iterator[VetoCue]:
    tokens, keys = message.tokens, message.keys
    end = 0
    for at in range(len(keys)):
        if at < end:
            continue
        if harmless := language.harmless.at(keys, at):
            end = harmless[1]
            continue
        found = _cue_end(language, keys, at)
        if found is None or at in message.people:
            continue
        if not own and _is_own(language, keys, at, found):
            continue
        end = found
        asked = any(at in area and not _limits(keys, at, area) for area in message.asked)
        if asked and language.firm.at(keys, at) is None:
            continue
        yield _cue(language, tokens, keys, at, found)


def _limits(keys: Sequence[str], at: int, area: range) -> bool:
    """Whether a limit follows a question that somebody is asked: "… unless it rains"."""
    return at > area.start and phrases_in_all("addressing", "limits").at(keys, at) is not None


def _squeeze(key: str) -> str:
    """Return a word without drawn-out letters: "nooo", "waitt", "esperaa"."""
    if key[-1:] != key[-2:-1]:
        return key
    squeezed = key.rstrip(key[-1:]) + key[-1:]
    return squeezed if squeezed != key and _is_cue_word(squeezed) else key


@cache
def _is_cue_word(key: str) -> bool:
    return any(language.kinds.at((key,), 0) for language in cue_words())


def _cue_end(language: CueWords, keys: Sequence[str], at: int) -> int | None:
    if found := language.firm.at(keys, at) or language.kinds.at(keys, at):
        return found[1]
    return at + 1 if language.code == "en" and keys[at].endswith("n't") else None


def is_firm(keys: Sequence[str], at: int) -> int | None:
    """Return where a firm cue at a token ends; nobody would send one. None: there is none."""
    found = (
        language.firm.at(keys, at) for language in cue_words() if not language.mild.at(keys, at)
    )
    return next((each[1] for each in found if each), None)


def _is_own(language: CueWords, keys: Sequence[str], at: int, end: int) -> bool:
    """Whether a cue counts only in messages of its own language."""
    found = language.own.at(keys, at)
    return found is not None and found[1] >= end


def _is_asked(
    language: CueWords,
    keys: Sequence[str],
    at: int,
    people: Collection[int],
    beside_people: Collection[int],
) -> bool:
    """Whether an "if" only begins a question to somebody: "ask Bob by mail if he comes"."""
    if language.asked.at(keys, at) is None:
        return False
    comma = at and keys[at - 1] == "," and keys[at] not in words_in_all("addressing", "breaks")
    before = at - 1 if comma else at
    while before and (before - 1 in people or before - 1 in beside_people):
        before -= 1
    far = 2 if before < at else 0  # "ask my friend Bob if …", but "find out when …"
    return any(
        (verb := language.asking.at(keys, place)) is not None and before - far <= verb[1] <= before
        for place in range(max(0, before - 4), before)
    )


def _clause_end(tokens: Sequence[Token], keys: Sequence[str], start: int) -> int:
    """Return where a question to somebody ends: at a mark, at "and", or at a word like "but"."""
    ends = words_in_all("addressing", "breaks") | words_in_all("addressing", "links")
    for at in range(start + 1, len(keys)):
        if tokens[at].kind in (TokenKind.MARK, TokenKind.LINE) or keys[at] in ends:
            return at
    return len(keys)


def _cue(
    language: CueWords, tokens: Sequence[Token], keys: Sequence[str], at: int, end: int
) -> VetoCue:
    plain = language.kinds.at(keys, at)
    kind = plain[0] if plain else VetoKind.RETRACTION
    if plain is None and keys[at].endswith("n't"):
        kind = VetoKind.DENIAL
    start, stop = tokens[at].start, tokens[end - 1].end
    words = " ".join(token.text for token in tokens[at:end])
    return VetoCue(kind, words, start, stop)


def open_quotes(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the tokens, with each quotation of uncertain end replaced by its words."""
    if all(token.clear for token in tokens):
        return tokens
    return tuple(
        each for token in tokens for each in (_words_of(token) if not token.clear else (token,))
    )


def _words_of(quote: Token) -> Iterator[Token]:
    shift = quote.start + 1
    for inner in tokenize(quote.text):
        yield replace(inner, start=inner.start + shift, end=inner.end + shift)
