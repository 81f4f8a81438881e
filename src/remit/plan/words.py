"""Reads what a task asks for: a change, advice, or plain text; or that it is unclear.

The imperative verb decides; of several the strongest. Text in quotes or code spans is a name, and
negated verbs do not count.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Final, cast

from msgspec import Struct

from remit.language.files import read_toml


def _load() -> Mapping[str, frozenset[str]]:
    tables = cast("dict[str, dict[str, str]]", read_toml("lexicon", "remit.plan"))
    doubled = frozenset(tables.pop("doubled")["words"].split())
    words = {
        name: frozenset(table.get("words", "").split()).union(
            *(_forms(verb, doubled) for verb in table.get("forms", "").split())
        )
        for name, table in tables.items()
    }
    words["changes"] = words["edits"] | words["builds"]
    kinds = ("advises", "writes", "maybe", "changes", "takes")
    return words | {"verbs": frozenset().union(*(words[kind] for kind in kinds))}


def _forms(verb: str, doubled: frozenset[str]) -> tuple[str, ...]:
    """An English verb with its endings: plan, plans, planned, planning."""
    if verb.endswith("e"):
        return verb, f"{verb}s", f"{verb}d", f"{verb[:-1]}ing"
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"
    if verb in doubled:
        return verb, f"{verb}s", f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"
    plural = "es" if verb.endswith(("s", "x", "ch", "sh")) else "s"
    return verb, f"{verb}{plural}", f"{verb}ed", f"{verb}ing"


LEXICON: Final = _load()


class RequestedWork(IntEnum):
    """What is asked for, weakest first."""

    ADVICE = 1
    TEXT = 2
    UNSURE = 3
    CHANGE = 4


_ADVICE, _TEXT, _UNSURE, _CHANGE = RequestedWork


class RequestReading(Struct, frozen=True):
    asks: RequestedWork
    why: str
    firm: bool = True  # whether the words say it, not only their absence


_SILENT: Final = RequestReading(_CHANGE, "nothing says that it is advice or text", firm=False)


class _Order(Struct, frozen=True):
    """A verb at the head of a clause, and what follows it."""

    verb: str
    rest: Sequence[str]


_NAME: Final = "\N{SYMBOL FOR SUBSTITUTE}"  # replaces what was quoted
_QUOTED: Final = re.compile(
    r"```.{0,4000}?```|`[^`\n]{1,400}`|\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]"
    r"|«[^»\n]{1,400}»|(?<![\w'])'[^'\n]{1,400}'(?!\w)",
    re.DOTALL,
)
_SENTENCE: Final = re.compile(r"[.!?]+(?=\s|$)|[;:](?=\s|$)|\n+|(?<=\s)[-*–—](?=\s)")
_TOKEN: Final = re.compile(rf",|&|[\w{_NAME}][\w'/.+#-]*|/[\w/.-]+")
_MAX_READ_CHARACTERS: Final = 4_000  # letters that are read; who writes more has said it before


def read_request(text: str) -> RequestReading:
    """Say what a description asks for. It reads words, and never obeys them."""
    described = (
        text[:_MAX_READ_CHARACTERS].replace("’", "'").replace("elease notes", "elease-notes")
    )
    split = _SENTENCE.split(_QUOTED.sub(_mask_quotation, described))
    sentences = [tokens for tokens in map(_tokens, split) if tokens]
    # `As a user, I want to review my orders`: the verbs are the user's.
    first = sentences[0] if sentences else [""]
    if first[0] in LEXICON["stories"] and "," in first and LEXICON["tellers"] & set(first):
        return RequestReading(_CHANGE, "it is a user story")
    asked = [_question(each) for each in sentences[:1] if described.rstrip().endswith("?")]
    found: list[RequestReading] = [each for each in asked if each] or [
        reading
        for tokens in sentences
        for reading in _label(tokens) or map(_order, _orders(tokens))
    ]
    found = found or [_nouns(tokens) for tokens in sentences]
    return max(found, key=lambda each: (each.asks, each.firm), default=_SILENT)


def _mask_quotation(found: re.Match[str]) -> str:
    """Replace a quotation by a name; a document's name stays."""
    inside = found.group().strip("`\"'“”„«»").casefold()
    return inside if inside in LEXICON["pages"] else _NAME


def _tokens(sentence: str) -> list[str]:
    return [token.rstrip(".-/'") or token for token in _TOKEN.findall(sentence.casefold())]


def _question(tokens: Sequence[str]) -> RequestReading | None:
    if tokens[0] not in LEXICON["asks"]:
        return None
    return RequestReading(_UNSURE, "it is a question, which an answer or a change may settle")


def _label(tokens: Sequence[str]) -> list[RequestReading]:
    """Read `docs: explain the cache` as a text, whatever its verb."""
    return [_nouns(tokens)] if len(tokens) == 1 and tokens[0] in ("docs", "doc") else []


# Orders -------------------------------------------------------------------------------------------


def _orders(tokens: Sequence[str]) -> list[_Order]:
    """Return the orders of a sentence; none if it only states or names something."""
    heads = list(_heads(tokens))
    if not heads:
        return _at_the_end(tokens)
    ends = [start for start, _ in heads[1:]] + [len(tokens)]
    return [
        _Order(tokens[start], tokens[start + 1 : end])
        for (start, denied), end in zip(heads, ends, strict=True)
        if not denied
    ]


def _heads(tokens: Sequence[str]) -> Iterator[tuple[int, bool]]:
    """Yield where the orders of a sentence begin, and whether each is negated."""
    ready, denied, inner, last = True, False, False, -2
    for at, word in enumerate(tokens):
        after = _token_after(tokens, at)
        if word in LEXICON["joins"]:
            ready, inner = True, inner and word not in LEXICON["steps"]
        elif ready and (
            word in LEXICON["not"] or (word in ("do", "does") and after in LEXICON["not"])
        ):
            denied = True
        elif ready and not _is_lead(tokens, at):
            if _is_head(tokens, at, last, inner=inner):
                yield at, denied
                last = at
            ready, denied = False, False
        elif last >= 0:
            # A verb that depends on the one before: how to implement.
            inner = inner or (word in LEXICON["modals"] and after in LEXICON["verbs"])


def _is_lead(tokens: Sequence[str], at: int) -> bool:
    """Whether a word only leads to the verb. `Have a look` and `let us` are phrases."""
    word = tokens[at]
    if word in ("let", "have"):
        return _token_after(tokens, at) in ("us", "someone", "somebody")
    return word in LEXICON["leads"] or (word == "us" and tokens[:at][-1:] == ["let"])


def _is_head(tokens: Sequence[str], at: int, last: int, *, inner: bool) -> bool:
    word, after = tokens[at], _token_after(tokens, at)
    if last < 0 and not _is_verb(tokens, at):
        return False
    if last < 0:
        return not _is_statement(tokens[at:])
    if inner and after not in LEXICON["it"]:
        return False
    if word not in LEXICON["verbs"] or _is_inflected(word):
        return False
    twins = last == at - 2  # review and merge
    return (
        word not in LEXICON["nouns_too"]
        or twins
        or after in LEXICON["determiners"]
        or after == _NAME
    )


def _is_verb(tokens: Sequence[str], at: int) -> bool:
    """A verb that is known, or a word that takes an object as verbs do: persist the zoom."""
    word, after = tokens[at], _token_after(tokens, at)
    if word in LEXICON["verbs"] or (
        word in ("take", "have", "throw") and after in LEXICON["determiners"]
    ):
        return True
    is_name = (
        word in LEXICON["pages"] or word in LEXICON["slips"] or word in LEXICON["prepositions"]
    )
    return after in ("the", "a", "an") and not is_name and word not in LEXICON["determiners"]


def _is_inflected(word: str) -> bool:
    return word.endswith(("ing", "ed")) or (word.endswith("s") and word[:-1] in LEXICON["verbs"])


def _is_statement(tokens: Sequence[str]) -> bool:
    """Whether an apparent verb is a name: review page shows nothing."""
    for word in tokens[1:6]:
        if word in LEXICON["says"]:
            return True
        stops = (
            word in LEXICON["determiners"]
            or word in LEXICON["prepositions"]
            or word in LEXICON["opens"]
        )
        if stops or word in LEXICON["joins"]:
            return False
    return False


def _at_the_end(tokens: Sequence[str]) -> list[_Order]:
    """Return orders with the infinitive last, as in German: `Tippfehler … korrigieren`."""
    verbs = [
        at
        for at, word in enumerate(tokens)
        if at and word in LEXICON["verbs"] and word.endswith(("en", "ern", "eln"))
    ]
    if not verbs or verbs[-1] != len(tokens) - 1:
        return []
    return [_Order(tokens[at], tokens[: verbs[0]]) for at in verbs]


def _token_after(tokens: Sequence[str], at: int) -> str:
    return tokens[at + 1] if at + 1 < len(tokens) else ""


# What one order asks for --------------------------------------------------------------------------


def _order(order: _Order) -> RequestReading:
    verb, quoted = order.verb, f"“{order.verb}”"
    phrases = _phrases(order.rest)
    if verb in LEXICON["maybe"] or (
        LEXICON["looks"] & set(order.rest[:3]) and verb not in LEXICON["changes"]
    ):
        return RequestReading(_UNSURE, f"{quoted} may end with an answer or with a change")
    if _is_told(order, phrases):
        return RequestReading(_TEXT, f"{quoted} asks for text alone")
    if verb in LEXICON["advises"] or (
        verb in LEXICON["takes"] and phrases[0].head in LEXICON["advice"]
    ):
        what = quoted if verb in LEXICON["advises"] else f"{quoted} “{phrases[0].head}”"
        return RequestReading(_ADVICE, f"{what} asks for advice, not for a change")
    if verb in LEXICON["edits"]:
        return _edit(quoted, phrases)
    return RequestReading(_CHANGE, f"{quoted} asks for a change", firm=verb in LEXICON["builds"])


def _is_told(order: _Order, phrases: Sequence["_Phrase"]) -> bool:
    """Whether it ends as text: document it; explain it in the wiki. To comment out is to change."""
    if order.verb in LEXICON["writes"]:
        return list(order.rest[:1]) != ["out"]
    return order.verb in LEXICON["tells"] and any(each.kind is _Kind.PAGE for each in phrases[1:])


def _edit(quoted: str, phrases: Sequence["_Phrase"]) -> RequestReading:
    """An edit is as much as what is edited: a text, code, or something in between."""
    what, where = phrases[0], [each.kind for each in phrases[1:] if each.before in LEXICON["where"]]
    place = next((each for each in where if each in (_Kind.PAGE, _Kind.CODE)), None)
    text = RequestReading(_TEXT, f"{quoted} “{what.head}” changes text alone")
    change = RequestReading(_CHANGE, f"{quoted} “{what.head}” asks for a change")
    match what.kind:
        case _Kind.PAGE | _Kind.REMARK:
            return text
        case _Kind.SLIP:
            return change if place is _Kind.CODE else text
        case _Kind.MIXED if place is not _Kind.CODE:
            return RequestReading(
                _UNSURE, f"{quoted} “{what.head}” may be about a text or about code"
            )
        case _Kind.CODE | _Kind.MIXED:
            return change
        case _:
            return (
                text if place is _Kind.PAGE else RequestReading(change.asks, change.why, firm=False)
            )


# Things -------------------------------------------------------------------------------------------


class _Kind(IntEnum):
    PAGE = 1  # a document
    REMARK = 2  # a comment in code
    SLIP = 3  # a typo, anywhere
    PASSAGE = 4  # part of some text
    CODE = 5
    MIXED = 6  # "the search of the docs"
    OTHER = 7


class _Phrase(Struct, frozen=True):
    """A thing and its preposition: `in`, `the SQL query`."""

    before: str
    words: tuple[str, ...]

    @property
    def head(self) -> str:
        return self.words[-1] if self.words else ""

    @property
    def kind(self) -> _Kind:
        *rest, head = self.words or ("",)
        found = _kind(head) or _kind(head.rpartition("-")[2])
        named = {_kind(word) for word in rest}
        if found is _Kind.PASSAGE and {_Kind.PAGE, _Kind.SLIP} & named:
            return _Kind.SLIP  # spelling mistakes, documentation links: text, unless in code
        if found is not None:
            return found
        if _Kind.PAGE in named:
            # la documentación técnica
            after = any(each.endswith(("ción", "cion")) for each in rest)
            return _Kind.PAGE if after or head in LEXICON["small_work"] else _Kind.MIXED
        return _Kind.CODE if _Kind.CODE in named else _Kind.OTHER


_REMARKS: Final = ("comment", "docstring", "kommentar", "comentario")
_GERMAN_PAGES: Final = ("dokumentation", "anleitung", "handbuch", "leitfaden")


def _kind(word: str) -> _Kind | None:
    if word in LEXICON["pages"] or word.endswith(_GERMAN_PAGES):
        return _Kind.PAGE
    if word in LEXICON["slips"]:
        return _Kind.REMARK if word.startswith(_REMARKS) else _Kind.SLIP
    if word in LEXICON["passages"]:
        return _Kind.PASSAGE
    is_code = word in LEXICON["machinery"] or (word.endswith("ing") and len(word) > len("string"))
    return _Kind.CODE if is_code else None


def _phrases(tokens: Sequence[str]) -> list[_Phrase]:
    """Return the object and then each thing with its preposition, up to the next clause."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for word in tokens:
        if word in LEXICON["without"] or word in LEXICON["opens"] or word in LEXICON["joins"]:
            break
        if word in LEXICON["determiners"]:
            if found[-1][1]:  # die Dokumentation der Schnittstelle
                found.append((word, []))
        elif word in LEXICON["prepositions"]:
            found.append((word, []))
        elif word not in LEXICON["particles"]:
            found[-1][1].append(word)
    return [_Phrase(before, tuple(words)) for before, words in found]


def _nouns(tokens: Sequence[str]) -> RequestReading:
    """Read a sentence without a verb: `Typo in the changelog`."""
    says = next((at for at, word in enumerate(tokens) if word in LEXICON["says"]), None)
    phrases = _phrases(tokens[:says])
    what = phrases[0]
    if says is not None:
        if what.kind is _Kind.PAGE:
            return RequestReading(_TEXT, f"it is about “{what.head}”")
        return RequestReading(_CHANGE, "it tells what is wrong or missing")
    if what.head in LEXICON["advice"] or what.head in LEXICON["advises"]:
        return RequestReading(_ADVICE, f"“{what.head}” is advice")
    lone = all(word in LEXICON["leads"] or word in LEXICON["machinery"] for word in what.words[:-1])
    if what.kind in (_Kind.PAGE, _Kind.SLIP) or (what.kind is _Kind.REMARK and lone):
        return _edit("to change", phrases)
    return _SILENT
