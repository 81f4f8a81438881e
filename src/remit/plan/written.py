"""Drafts criteria for a written text from the owner's words alone.

A criterion that fails honest work costs the owner more than a missing one, so each is made only
where the words are clear. Three are always made: no placeholders, no repetition, and a form the
reader can read. That every figure has a source is required only where the work can read sources and
the words ask for facts.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from remit.model.contract import Criterion
from remit.model.plan import Clause
from remit.plan.counted import counted
from remit.plan.items import items
from remit.plan.spoken import LANGUAGES, NUMBER, number

_FACTS: Final = re.compile(
    r"\b(?:prices?|costs?|how (?:much|many|far|long|old|big)|fees?|fares?|rates?|hours|when"
    r"|dates?|address|phone|contact|weather|news|stories"
    r"|sources?|find|look up|check|research|compare|compile|who|where|which|what|population"
    r"|numbers?|statistics|add up|calculate|total|report"
    r"|minutes|opinions|summari[sz]e|summary|schedule|calendar|flights?|trains?|bank|invoices?"
    r"|facts"
    r"|reviewers|history|recipe|subscriptions|timeline|overview|deadlines?|status|orders?"
    r"|differences?|from the (?:\w+ )?(?:page|file|report"
    r"|notes|log|archive|document|table)|attached|decide[ds]?|results?"
    r"|preise?|kosten|kostet|wie ?viele?|wie (?:weit|lange|alt|gross|hoch|haben|erreiche)"
    r"|geb[uü]hr|miete|mieten|wann|datum|adresse|telefon|kontakt"
    r"|wetter\w*|nachrichten|quellen?|finde|such|suche|pr[uü]fe|recherchiere|vergleiche|wer|wo"
    r"|welche[rs]?|was|einwohner|zahlen|rechne|berechne"
    r"|zusammen|fass|fasse|protokoll|termine|fl[uü]ge|z[uü]ge|studie|artikel|notizen|speisekarte"
    r"|aus (?:den|der|dem)|übersicht|ergebnisse|überblick|fristen|unterschiede?|steht"
    r"|precios?|cu[aá]nt[oa]s?|cuesta|cuestan|tarifas?|horario|cu[aá]ndo|fecha|direcci[oó]n"
    r"|tel[eé]fono|contacto|tiempo|noticias|fuentes?|busca"
    r"|averigua|investiga|compara|comparaci[oó]n|qui[eé]n|d[oó]nde|cu[aá]l|qu[eé]|habitantes"
    r"|cifras|suma|calcula|resume|citas|vuelos|trenes|informe"
    r"|receta|encuentra|titulares|normas|lluvia|llovido|resumen|opiniones|estado|plazos?"
    r"|diferencias?|gastado|pel[ií]culas|acta|reuni[oó]n)\b",
    re.IGNORECASE,
)
# A plan or a conversion makes new figures, which no source contains.
_MAKES: Final = re.compile(
    r"\b(?:plan|schedule (?:my|our|a)|timetable|convert|halve|scale|\w*plane|\w*plan"
    r"|rechne\b.{0,200}?\bum|umrechnen|planifica|planea|convierte|calendario de|estimate|schätze"
    r"|estima)\b",
    re.IGNORECASE,
)
_PRICED: Final = re.compile(
    r"\b(?:prices?|costs?|preise?n?|kosten|kostet|precios?|costes?)\b", re.IGNORECASE
)
_SOURCES: Final = re.compile(
    rf"\b(?:(?P<many>{NUMBER})\s+(?:\w+\s+)?)?(?P<what>sources?|quellen?|fuentes?|references"
    rf"|referencias)\b",
    re.IGNORECASE,
)
_CALLED: Final = "|".join(LANGUAGES)
_LANGUAGE: Final = re.compile(
    rf"\b(?:in|into|to|auf|ins|nach|en|al)\s+(?:simple\s+|plain\s+)?(?P<name>{_CALLED})\b"
    r"(?=\s*(?:[.,;:!?)\n\"'“–-]|$|(?:and|und|y|with|mit|con|please|bitte|por|for|für|para|under"
    r"|in|el|la|los|las|den|die|das|the)\b))",
    re.IGNORECASE,
)
_COUNTED: Final = {
    "words": "word words wort worte worten wörter wörtern palabra palabras",
    "characters": "character characters zeichen caracteres",
    "sentences": "sentence sentences satz sätze sätzen frase frases oraciones",
    "paragraphs": "paragraph paragraphs absatz absätze absätzen párrafo párrafos",
}
_UNITS: Final = {word: unit for unit, words in _COUNTED.items() for word in words.split()}
_UNIT: Final = "|".join(_UNITS)
_LIMIT: Final = (
    r"(?:\b(?P<how>under|below|at most|no more than|not more than|max\.?|maximum|up to|less than"
    r"|fewer than|within|höchstens|maximal"
    r"|unter|bis zu|weniger als|menos de|como máximo|máximo|hasta|at least|no less than"
    r"|more than|over|mindestens|mehr als|al menos"
    r"|como mínimo|más de|about|around|roughly|approximately|some|etwa|ungefähr|rund|circa|ca\."
    r"|unas|unos|aproximadamente|alrededor de)\s+)?(?:(?P<least>\d{1,5})\s*(?:-|–|to|bis|a)\s*)?"
)
_HOW: Final = re.compile(_LIMIT + "$", re.IGNORECASE)
_COUNT: Final = re.compile(
    rf"{_LIMIT}\b(?P<most>{NUMBER})[\s-]+(?:\w+\s+)?(?P<unit>{_UNIT})\b", re.IGNORECASE
)
_BELOW: Final = re.compile(
    r"under|below|at most|no more|not more|max|up to|less|fewer|within|höchst|unter|bis zu"
    r"|weniger|menos|máximo|hasta|como máx",
    re.IGNORECASE,
)
_ABOVE: Final = re.compile(
    r"at least|no less|more than|over|mindest|mehr|al menos|mínimo|más de", re.IGNORECASE
)
_FORMS: Final = (
    (
        "table",
        re.compile(
            r"\b(?:(?:as|in|make|create|with) an? (?:\w+ )?table|table of|als tabelle"
            r"|in einer tabelle|eine tabelle|en una tabla|una tabla|como tabla"
            r"|tabla comparativa)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "list",
        re.compile(
            r"\b(?:as an? (?:\w+ )?list|als liste|como lista|en una lista|haz una lista"
            r"|packing list|shopping list)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "points",
        re.compile(
            r"\b(?:bullet points|bullets|bulleted|als stichpunkte|in stichpunkten|stichpunktartig"
            r"|con viñetas|en viñetas)\b",
            re.IGNORECASE,
        ),
    ),
    ("json", re.compile(r"\b(?:as|in|als|como|en) json\b", re.IGNORECASE)),
    ("csv", re.compile(r"\b(?:as|in|als|como|en) csv\b", re.IGNORECASE)),
)
_CHANNELS: Final = {
    "whatsapp": ("no-table", "no-html"),
    "signal": ("no-table", "no-html"),
    "sms": ("no-markdown", "no-html"),
    "email": ("no-html",),
}
_MATTER: Final = (
    r"(?:prices?|news|stories|headlines|rates?|weather|scores?|results?|preise?|kurse?|kostet"
    r"|kosten|nachrichten|meldungen|zinsen|precios?|noticias|tipos|cotizaci[oó]n|titulares)"
)
_RECENT: Final = (
    (
        2,
        re.compile(
            rf"\btoday[’']s\b|\b{_MATTER}\b(?:\W+\w+){{0,4}}?\W+(?:today|heute|hoy)\b"
            rf"|\b(?:heutigen?)\b|\b(?:today|heute|hoy)\b(?:\W+\w+){{0,3}}?\W+{_MATTER}\b",
            re.IGNORECASE,
        ),
    ),
    (
        8,
        re.compile(
            rf"\bthis week[’']s\b|\b{_MATTER}\b(?:\W+\w+){{0,3}}?\W+(?:this week|dieser woche"
            rf"|diese woche|esta semana|de la semana)\b",
            re.IGNORECASE,
        ),
    ),
    (
        31,
        re.compile(
            rf"\b(?:current|latest|up-to-date|aktuellen?|neuesten?|actuales|actual"
            rf"|últim[oa]s)\s+(?:\w+\s+)?{_MATTER}\b",
            re.IGNORECASE,
        ),
    ),
)
_MUST_SAY: Final = re.compile(
    r"\b(?:mention|include|use|erwähne|nenne|verwende|menciona|incluye|usa)\s+(?:the (?:words?"
    r"|phrase|name|sentence)\s+|die worte\s+|das wort\s+|la palabra\s+|la frase\s+)?"
    r"[\"“„«](?P<what>[^\"”“»\n]{2,80})[\"”“»]",
    re.IGNORECASE,
)
_EACH: Final = re.compile(r"\b(?:each|every|per|je|jeweils|pro|cada)\b", re.IGNORECASE)  # of many
_ABOUT: Final = 0.3  # how far "about 200 words" may be from 200


def criteria(
    asked: str, clauses: Sequence[Clause], channels: Sequence[str], *, can_read: bool
) -> tuple[Criterion, ...]:
    """Return all criteria for a text requested with these words.

    `channels` are the kinds of channels it is sent on; `can_read`: whether the work has tools to
    read with.
    """
    return (
        *_answers(asked, clauses),
        *(_read(asked) if can_read else ()),
        *_language(asked),
        *_length(asked),
        *_form(asked, channels),
        *_mentions(asked),
        Criterion("request", "It keeps to the request: its subject, figures, dates and names"),
        Criterion("no-placeholder", "Nothing is left to be filled in"),
        Criterion("no-padding", "Nothing is said twice"),
    )


def _answers(asked: str, clauses: Sequence[Clause]) -> Iterator[Criterion]:
    found = items(asked, clauses)
    if len(found) > 1:
        pattern = "\n".join(f"{n}. {each}" for n, each in enumerate(found, 1))
        yield Criterion("answers", f"All {len(found)} things that were asked are answered", pattern)


def _read(asked: str) -> Iterator[Criterion]:
    """Yield criteria for work that can read: named sources and figures were read."""
    named = _SOURCES.search(asked)
    if named:
        count = number(named["many"]) if named["many"] else 1
        yield Criterion("sources", f"At least {count} of what was read is named", str(count))
    makes = _MAKES.search(asked) and not _PRICED.search(asked)
    if not (named or _FACTS.search(asked)) or makes:
        return
    if not named:
        yield Criterion("sources", "What is named as a source was read", "0")
    said = "Every number, date and address stands in what was read; a sum shows its parts"
    yield Criterion("grounded", said)
    recent = next((count for count, words in _RECENT if words.search(asked)), None)
    if recent:
        yield Criterion("fresh", f"What it stands on is at most {recent} days old", str(recent))


def _language(asked: str) -> Iterator[Criterion]:
    """Yield the requested language; with two it is unclear which part is in which."""
    found = {LANGUAGES[each["name"].casefold()] for each in _LANGUAGE.finditer(asked)}
    for code, name in found if len(found) == 1 else ():
        yield Criterion("language", f"It is in {name}", code)


def _length(asked: str) -> Iterator[Criterion]:
    seen: set[str] = set()
    for found in _COUNT.finditer(asked):
        unit = _UNITS[found["unit"].casefold()]
        around = asked[max(0, found.start() - 12) : found.end() + 14]
        if unit not in seen and not _EACH.search(around):
            seen.add(unit)
            bounds = _bounds(found["how"], found["least"], number(found["most"]), unit)
            pattern = f"{bounds} {unit}"
            yield Criterion("length", f"It has {found.group(0).strip()}", pattern)
    yield from _entries(asked)


def _entries(asked: str) -> Iterator[Criterion]:
    """Yield how many things to list."""
    found = counted(asked)
    if found is None or _EACH.search(asked[max(0, found.start - 12) : found.end + 14]):
        return
    how = _HOW.search(asked[: found.start])
    bounds = _bounds(
        how["how"] if how else "", how["least"] if how else None, found.number, "items"
    )
    said = asked[how.start() if how else found.start : found.end].strip()
    perhaps = "" if found.sure else "perhaps "
    yield Criterion("length", f"It has {said}", f"{perhaps}{bounds} items")


def _bounds(how: str | None, least: str | None, most: int, unit: str) -> str:
    how = how or ""
    if least:
        return f"{least}-{most}"
    if _ABOVE.match(how):
        return f">={most}"
    # "In two sentences" is a limit; the exact number depends on full stops.
    if _BELOW.match(how) or (not how and unit != "items"):
        return f"<={most}"
    if how:
        return f"{int(most * (1 - _ABOUT))}-{int(most * (1 + _ABOUT)) + 1}"
    return str(most)


def _form(asked: str, channels: Sequence[str]) -> Iterator[Criterion]:
    wanted = [form for form, words in _FORMS if words.search(asked)]
    for form in wanted:
        yield Criterion("form", f"It has the form of a {form}", form)
    bans = dict.fromkeys(ban for each in channels for ban in _CHANNELS.get(each, ()))
    kept = [ban for ban in bans if ban.removeprefix("no-") not in wanted]
    if kept:
        yield Criterion("form", "Its readers can read its form", " ".join(kept))


def _mentions(asked: str) -> Iterator[Criterion]:
    for found in _MUST_SAY.finditer(asked):
        yield Criterion("mentions", f"It mentions “{found['what']}”", found["what"])
