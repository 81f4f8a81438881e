"""Drafts criteria for a written text from the owner's words alone, in English, German or Spanish.

A criterion that fails honest work costs the owner more than a missing one, so each is made only
where the words are clear. Three are always made: no placeholders, no repetition, and a form the
reader can read. That every figure has a source is required only where the work can read sources and
the words ask for facts. A request is split into the things it asks for; after "list" or "name" a
number counts entries, after "find" it may describe one of them: "find 4 seats".
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final, cast

from msgspec import Struct

from remit.language.files import LANGUAGES, cardinals, cardinals_in_all, read_toml, section
from remit.language.order_words import languages
from remit.language.tokens import fold
from remit.model.contract import Clause, ClauseOutcome, Criterion

_LINE: Final = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+(?P<item>\S.*)$", re.MULTILINE)
_INLINE: Final = re.compile(
    r"(?:^|(?<=\s))(?P<number>\d{1,2})[.)]\s+(?P<item>.+?)(?=\s+\d{1,2}[.)]\s|$)", re.DOTALL
)
_SENTENCE: Final = re.compile(r"(?P<words>[^.?!:\n]+)(?P<asks>\?)?")
_APART, _ASKS, _FACT, _WRITES, _OWN, _THE, _ABOUT_WORDS = (
    re.compile(cast("str", pattern).replace("\n", ""), re.IGNORECASE)
    for pattern in read_toml("items", "remit.plan").values()
)
_SHORT_ITEM: Final = 5  # words of one thing in an enumeration, at most
_MANY: Final = 3
_ORDER: Final = 2  # words of an order without an object


def split_items(request: str, clauses: Sequence[Clause]) -> tuple[str, ...]:
    """Return what is asked for, one by one: list lines, questions, or clauses.

    A clause is split where it asks several questions or names several facts; "salt and pepper"
    stays one thing.
    """
    listed = tuple(_neat(each["item"]) for each in _LINE.finditer(request))
    questions = tuple(_neat(each[0]) for each in _SENTENCE.finditer(request) if each["asks"])
    for found in (listed, _numbered_items(request), questions):
        if len(found) > 1:
            return found
    work = [each.text for each in clauses if each.became is ClauseOutcome.WORK] or [request]
    return tuple(_neat(part) for clause in work for part in _parts(clause) if _neat(part))


def _numbered_items(request: str) -> tuple[str, ...]:
    found = list(_INLINE.finditer(" ".join(request.split())))
    in_order = [int(each["number"]) for each in found] == list(range(1, len(found) + 1))
    return tuple(_neat(each["item"]) for each in found) if in_order else ()


def _parts(clause: str) -> Iterator[str]:
    """Yield the things that one clause names."""
    clause = " ".join(clause.split())
    if _WRITES.match(clause):
        yield clause
        return
    ends = [found.span() for found in _APART.finditer(clause)]
    cuts = [0, *(end for _, end in ends)]
    stops = [*(start for start, _ in ends), len(clause)]
    pieces = [clause[start:stop] for start, stop in zip(cuts, stops, strict=True)]
    enumeration = _enumeration(pieces)
    start = 0
    for at in range(1, len(pieces)):
        if _begins(pieces[at].strip(), enumeration):
            # "Find out, when …": the order alone is nothing to answer.
            if start or len(pieces[0].split()) > _ORDER or _FACT.search(pieces[0]):
                yield (
                    clause[start : stops[at - 1]]
                    if start
                    else _first(pieces, stops[at - 1], clause)
                )
            start = cuts[at]
    yield clause[start:]


def _first(pieces: Sequence[str], stop: int, clause: str) -> str:
    """Return the first thing; of "what it says about pets, notice and deposit" it is the pets."""
    about = _ABOUT_WORDS.search(pieces[0])
    alone = about and not _FACT.search(clause) and not _ASKS.match(pieces[1].strip())
    return about["what"] if about and alone else clause[:stop]


class _Enumeration(Struct, frozen=True):
    """What the pieces of a clause have in common; computed once, because there may be thousands."""

    listed: bool  # several things, none of them the owner's own
    facts: bool
    about: bool  # "… about pets, notice and deposit"


def _enumeration(pieces: Sequence[str]) -> _Enumeration:
    rest = [each for each in pieces[1:] if len(each.split()) <= _SHORT_ITEM]
    return _Enumeration(
        listed=len(pieces) >= _MANY and not any(_OWN.search(each) for each in rest),
        facts=any(_FACT.search(each) for each in rest),
        about=_ABOUT_WORDS.search(pieces[0]) is not None,
    )


def _begins(piece: str, among: _Enumeration) -> bool:
    """Whether a piece is a thing of its own."""
    if _ASKS.match(piece):
        return True
    if len(piece.split()) > _SHORT_ITEM and not _FACT.search(" ".join(piece.split()[:_SHORT_ITEM])):
        return False
    if _FACT.search(piece):
        return True
    if among.facts and len(piece.split()) <= 2:  # noqa: PLR2004
        return among.listed
    alone = among.about and len(piece.split()) == 1
    return among.listed and (alone or _THE.match(piece) is not None)


def _neat(item: str) -> str:
    return " ".join(item.split()).strip(" ,;")


_WORD: Final = re.compile(r"\d{1,5}|[^\W\d_]+(?:['’-][^\W\d_]+)*|[.!?:;,\n]")
_AHEAD: Final = 3  # words behind a number among which is the one that it counts
_MAX_WORDS_BETWEEN: Final = 6  # words between a verb and its number
_MIN_ITEMS: Final = 2  # one thing is no list


class CountedItems(Struct, frozen=True):
    """`start` and `end` cover the number and the words it counts."""

    number: int
    start: int
    end: int
    sure: bool


class _Token(Struct, frozen=True):
    start: int
    end: int
    key: str


class _Vocabulary(Struct, frozen=True, kw_only=True):
    numbers: dict[str, int]
    listing: tuple[tuple[str, ...], ...]
    seeking: tuple[tuple[str, ...], ...]
    counted: frozenset[str]
    between: frozenset[str]
    measures: frozenset[str]
    joins: frozenset[str]
    stop: frozenset[str]


@cache
def _vocabulary(code: str) -> _Vocabulary:
    table = section(code, "requests")
    sets = {
        key: frozenset(map(fold, table[key]))
        for key in ("counted", "between", "measures", "joins", "stop")
    }
    return _Vocabulary(
        numbers={fold(name): value for name, value in cardinals(code).items()},
        listing=tuple(tuple(fold(each).split()) for each in table["listing"]),
        seeking=tuple(tuple(fold(each).split()) for each in table["seeking"]),
        **sets,
    )


def find_count(request: str) -> CountedItems | None:
    """Return the first number of things to list; a sure one before a possible one."""
    tokens = [
        _Token(each.start(), each.end(), fold(each.group())) for each in _WORD.finditer(request)
    ]
    found = [each for code in LANGUAGES for each in _in_language(tokens, _vocabulary(code))]
    return min(found, key=lambda each: (not each.sure, each.start), default=None)


def _in_language(tokens: Sequence[_Token], known: _Vocabulary) -> Iterator[CountedItems]:
    for at, token in enumerate(tokens):
        number = _number(token.key, known)
        behind = _words(tokens[at + 1 : at + 1 + _AHEAD], known)
        if number < _MIN_ITEMS or not behind:
            continue
        before = [each.key for each in tokens[max(0, at - _MAX_WORDS_BETWEEN) : at]]
        sure = _follows(before, known.listing, known.between)
        named = any(each.key in known.counted for each in behind[:2])
        if sure or named or _follows(before, known.seeking, known.between):
            alone = not _another(tokens[at + 1 :], known)
            yield CountedItems(number, token.start, behind[-1].end, (sure or named) and alone)


def _number(key: str, known: _Vocabulary) -> int:
    return int(key) if key.isdecimal() else known.numbers.get(key, 0)


def _words(tokens: Sequence[_Token], known: _Vocabulary) -> list[_Token]:
    """Return the words a number counts; none if it measures something."""
    found: list[_Token] = []
    for each in tokens:
        if not each.key[0].isalpha() or (found and each.key in known.stop):
            break
        found.append(each)
    return [] if any(each.key in known.measures for each in found[:2]) else found


def _follows(
    before: Sequence[str], phrases: Sequence[tuple[str, ...]], between: frozenset[str]
) -> bool:
    """Whether a phrase precedes the number, with only small words in between."""
    for cut in range(len(before), 0, -1):
        if any(
            tuple(before[cut - len(each) : cut]) == each for each in phrases if len(each) <= cut
        ):
            return True
        if before[cut - 1] not in between:
            return False
    return False


def _another(tokens: Sequence[_Token], known: _Vocabulary) -> bool:
    """Whether a second number is joined to the first: three starters and two desserts."""
    for at, token in enumerate(tokens[: _AHEAD + 2]):
        joined = token.key == "," or token.key in known.joins
        after = tokens[at + 1].key if joined and at + 1 < len(tokens) else ""
        if _number(after, known) >= _MIN_ITEMS:
            return True
    return False


# Names of languages in lower case: code and name.
NAMED_LANGUAGES: Final[Mapping[str, tuple[str, str]]] = {
    word: (code, each.name) for code, each in languages().items() for word in each.called.split()
}
_MAX_SPOKEN_NUMBER: Final = 20  # "hundred" and its like are rarely meant to the last
_SAID: Final = {
    name: value for name, value in cardinals_in_all().items() if 0 < value <= _MAX_SPOKEN_NUMBER
}
NUMBER: Final = r"\d{1,5}|" + "|".join(sorted(_SAID, key=len, reverse=True))


def read_number(word: str) -> int:
    """Return the number that NUMBER matched."""
    return int(word) if word.isdecimal() else _SAID[word.casefold()]


_DATA: Final = cast("Mapping[str, Mapping[str, str]]", read_toml("written", "remit.plan"))
_UNITS: Final = {word: unit for unit, words in _DATA["counted"].items() for word in words.split()}
_PARTS: Final = {
    "number": NUMBER,
    "language": "|".join(NAMED_LANGUAGES),
    "unit": "|".join(_UNITS),
    "limit": _DATA["patterns"]["limit"],
    "matter": _DATA["patterns"]["matter"],
}


def _compile(pattern: str) -> re.Pattern[str]:
    for name, part in _PARTS.items():
        pattern = pattern.replace(f"{{{name}}}", part)
    return re.compile(pattern.replace("\n", ""), re.IGNORECASE)


_PATTERNS: Final = {name: _compile(pattern) for name, pattern in _DATA["patterns"].items()}
_HOW: Final = _compile("{limit}$")
_FORMS: Final = {form: _compile(pattern) for form, pattern in _DATA["forms"].items()}
_RECENT: Final = {int(days): _compile(pattern) for days, pattern in _DATA["recent"].items()}
_CHANNELS: Final = {
    "whatsapp": ("no-table", "no-html"),
    "telegram": ("no-table", "no-html"),
    "signal": ("no-table", "no-html"),
    "sms": ("no-markdown", "no-html"),
    "email": ("no-html",),
}
_ABOUT: Final = 0.3  # how far "about 200 words" may lie from 200


def criteria(
    request: str, clauses: Sequence[Clause], channels: Sequence[str], *, can_read: bool
) -> tuple[Criterion, ...]:
    """Return all criteria for a text requested with these words.

    `channels` are the kinds of channels it is sent on; `can_read`: whether the work has tools to
    read with.
    """
    return (
        *_answers(request, clauses),
        *(_read(request) if can_read else ()),
        *_language(request),
        *_length(request),
        *_form(request, channels),
        *_mentions(request),
        Criterion("request", "It keeps to the request: its subject, figures, dates and names"),
        Criterion("no-placeholder", "Nothing is left to be filled in"),
        Criterion("no-padding", "Nothing is said twice"),
    )


def _answers(request: str, clauses: Sequence[Clause]) -> Iterator[Criterion]:
    found = split_items(request, clauses)
    if len(found) > 1:
        pattern = "\n".join(f"{n}. {each}" for n, each in enumerate(found, 1))
        yield Criterion("answers", f"All {len(found)} things that were asked are answered", pattern)


def asks_for_sources(request: str) -> bool:
    return _PATTERNS["sources"].search(request) is not None


def _read(request: str) -> Iterator[Criterion]:
    """Yield the criteria for work that can read: it has read the sources and figures it names."""
    named = _PATTERNS["sources"].search(request)
    if named:
        count = read_number(named["many"]) if named["many"] else 1
        yield Criterion("sources", f"At least {count} of what was read is named", str(count))
    makes = _PATTERNS["makes"].search(request) and not _PATTERNS["priced"].search(request)
    if not (named or _PATTERNS["facts"].search(request)) or makes:
        return
    if not named:
        yield Criterion("sources", "What is named as a source was read", "0")
    rule = "Every number, date and address stands in what was read; a sum shows its parts"
    yield Criterion("grounded", rule)
    recent = next((count for count, words in _RECENT.items() if words.search(request)), None)
    if recent:
        yield Criterion("fresh", f"What it stands on is at most {recent} days old", str(recent))


def _language(request: str) -> Iterator[Criterion]:
    """The language that is asked for; if there are two, nobody can say which part is in which."""
    found = {
        NAMED_LANGUAGES[each["name"].casefold()] for each in _PATTERNS["language"].finditer(request)
    }
    for code, name in found if len(found) == 1 else ():
        yield Criterion("language", f"It is in {name}", code)


def _length(request: str) -> Iterator[Criterion]:
    units: set[str] = set()
    for found in _PATTERNS["count"].finditer(request):
        unit = _UNITS[found["unit"].casefold()]
        around = request[max(0, found.start() - 12) : found.end() + 14]
        if unit not in units and not _PATTERNS["each"].search(around):
            units.add(unit)
            bounds = _bounds(found["how"], found["least"], read_number(found["most"]), unit)
            pattern = f"{bounds} {unit}"
            yield Criterion("length", f"It has {found.group(0).strip()}", pattern)
    yield from _entries(request)


def _entries(request: str) -> Iterator[Criterion]:
    """Yield how many things to list."""
    found = find_count(request)
    if found is None or _PATTERNS["each"].search(
        request[max(0, found.start - 12) : found.end + 14]
    ):
        return
    how = _HOW.search(request[: found.start])
    bounds = _bounds(
        how["how"] if how else "", how["least"] if how else None, found.number, "items"
    )
    phrase = request[how.start() if how else found.start : found.end].strip()
    perhaps = "" if found.sure else "perhaps "
    yield Criterion("length", f"It has {phrase}", f"{perhaps}{bounds} items")


def _bounds(how: str | None, least: str | None, most: int, unit: str) -> str:
    how = how or ""
    if least:
        return f"{least}-{most}"
    if _PATTERNS["above"].match(how):
        return f">={most}"
    # "In two sentences" is a bound; how many there are is a matter of full stops.
    if _PATTERNS["below"].match(how) or (not how and unit != "items"):
        return f"<={most}"
    if how:
        return f"{int(most * (1 - _ABOUT))}-{int(most * (1 + _ABOUT)) + 1}"
    return str(most)


def _form(request: str, channels: Sequence[str]) -> Iterator[Criterion]:
    wanted = [form for form, words in _FORMS.items() if words.search(request)]
    for form in wanted:
        yield Criterion("form", f"It has the form of a {form}", form)
    bans = dict.fromkeys(ban for each in channels for ban in _CHANNELS.get(each, ()))
    allowed = [ban for ban in bans if ban.removeprefix("no-") not in wanted]
    if allowed:
        yield Criterion("form", "Formatting fits the channel", " ".join(allowed))


def _mentions(request: str) -> Iterator[Criterion]:
    for found in _PATTERNS["must_say"].finditer(request):
        yield Criterion("mentions", f"It mentions “{found['what']}”", found["what"])
