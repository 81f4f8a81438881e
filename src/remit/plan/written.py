"""Drafts criteria for a written text from the owner's words alone, in English, German or Spanish.

A criterion that fails honest work costs the owner more than a missing one, so each is made only
where the words are clear. Three are always made: no placeholders, no repetition, and a form the
reader can read. That every figure has a source is required only where the work can read sources and
the words ask for facts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from remit.language.files import cardinals_in_all, read_toml
from remit.language.order_words import languages
from remit.model.contract import Clause, Criterion
from remit.plan.items import counted, items

# Names of languages in lower case: code and name.
LANGUAGES: Final[Mapping[str, tuple[str, str]]] = {
    word: (code, each.name) for code, each in languages().items() for word in each.called.split()
}
_MAX_SPOKEN_NUMBER: Final = 20  # "hundred" and its like are rarely meant to the last
_SAID: Final = {
    name: value for name, value in cardinals_in_all().items() if 0 < value <= _MAX_SPOKEN_NUMBER
}
NUMBER: Final = r"\d{1,5}|" + "|".join(sorted(_SAID, key=len, reverse=True))


def number(word: str) -> int:
    """Return the number that NUMBER matched."""
    return int(word) if word.isdecimal() else _SAID[word.casefold()]


_DATA: Final = cast("Mapping[str, Mapping[str, str]]", read_toml("written", "remit.plan"))
_UNITS: Final = {word: unit for unit, words in _DATA["counted"].items() for word in words.split()}
_PARTS: Final = {
    "number": NUMBER,
    "language": "|".join(LANGUAGES),
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
    found = items(request, clauses)
    if len(found) > 1:
        pattern = "\n".join(f"{n}. {each}" for n, each in enumerate(found, 1))
        yield Criterion("answers", f"All {len(found)} things that were asked are answered", pattern)


def asks_for_sources(request: str) -> bool:
    return _PATTERNS["sources"].search(request) is not None


def _read(request: str) -> Iterator[Criterion]:
    """What is asked of work that can read: where it names sources and figures, it has read them."""
    named = _PATTERNS["sources"].search(request)
    if named:
        count = number(named["many"]) if named["many"] else 1
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
    found = {LANGUAGES[each["name"].casefold()] for each in _PATTERNS["language"].finditer(request)}
    for code, name in found if len(found) == 1 else ():
        yield Criterion("language", f"It is in {name}", code)


def _length(request: str) -> Iterator[Criterion]:
    units: set[str] = set()
    for found in _PATTERNS["count"].finditer(request):
        unit = _UNITS[found["unit"].casefold()]
        around = request[max(0, found.start() - 12) : found.end() + 14]
        if unit not in units and not _PATTERNS["each"].search(around):
            units.add(unit)
            bounds = _bounds(found["how"], found["least"], number(found["most"]), unit)
            pattern = f"{bounds} {unit}"
            yield Criterion("length", f"It has {found.group(0).strip()}", pattern)
    yield from _entries(request)


def _entries(request: str) -> Iterator[Criterion]:
    """Yield how many things to list."""
    found = counted(request)
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
