"""What was never filled in: [Name], XXX, TODO, {{braces}}; and a machine that speaks of itself."""

import re
from typing import Final

from remit.model.contract import Criterion, Evidence, Finding, Result
from remit.model.task import Task
from remit.verify.written.grounded import owner_words

_HOLE: Final = (
    r"your|insert|enter|add|fill|todo|tbd|tba|tbc|name|names|first name|last name|full name|date"
    r"|time|address|company|place|city"
    r"|phone|number|email|e-mail|amount|price|title|subject|recipient|sender|link|url|signature"
    r"|placeholder|xx+|landlord|customer"
    r"|client|contact|position|job title|ihr|ihre|dein|deine|hier|einfügen|name|vorname|nachname"
    r"|datum|uhrzeit|adresse|anschrift|firma"
    r"|unternehmen|ort|stadt|telefon\w*|betrag|preis|betreff|empfänger|absender|unterschrift"
    r"|platzhalter|titel|kunde|vermieter"
    r"|tu|su|inserte|insertar|introduzca|rellenar|nombre|apellidos?|fecha|hora|dirección|empresa"
    r"|lugar|ciudad|teléfono|importe"
    r"|precio|asunto|destinatario|remitente|firma|cliente|enlace|correo"
)
_SIGNS: Final = (
    # In brackets, unless it is a link, a tick or a note.
    re.compile(rf"\[\s*(?:{_HOLE})\b[^\]\n]{{0,60}}\](?![(\[])", re.IGNORECASE),
    re.compile(rf"\[(?:[^\W\d_]+[ ’'-]+){{1,3}}(?:{_HOLE})\s*\](?![(\[])", re.IGNORECASE),
    re.compile(
        r"\[\s*[^\W\d_][^\]\n]{0,40}(?:'s|’s)\s+(?:name|address|title|company)\s*\]", re.IGNORECASE
    ),
    re.compile(r"\{\{[^{}\n]{0,60}\}\}|\$\{\w{1,40}\}|%\([a-z_]{1,40}\)s|<%.{0,60}?%>"),
    re.compile(
        rf"(?<![\w\\$])\{{\s*(?:{_HOLE})[\w\s]{{0,30}}\}}|<(?:{_HOLE})(?:[\s_-]\w{{1,20}}){{0,3}}>",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?<![\w])X{3,}(?![\w])|\bX{2}[:./-]X{2}\b|(?<!\w)[€$£]\s?X{1,3}\b|\bX{2,}\s?(?:€|euros?"
        r"|pounds|dollars)"
    ),
    re.compile(r"(?<![\w_])_{3,}(?![\w_])"),
    re.compile(r"\b(?:TODO|FIXME|TBD|TBA|TBC|TK)\b"),
    re.compile(r"lorem ipsum|\bdolor sit amet\b", re.IGNORECASE),
    re.compile(
        r"\b(?:insert|put|add|paste|enter)\s+(?:your\s+)?(?:\w+\s+){0,3}here\b"
        r"|\bhier\s+(?:\w+\s+){0,3}(?:einfügen|eintragen|einsetzen)\b"
        r"|\b(?:insert[ae]r?|pon|poner|añad[ae]|escrib[ae])\s+(?:\w+\s+){0,3}aquí\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\bas an? (?:ai|artificial intelligence|large)\b(?:\s+language)?(?:\s+(?:model"
        r"|assistant))?"
        r"|\bals (?:ki|künstliche intelligenz)(?:-?\s?(?:sprachmodell|modell|assistent))?\b"
        r"|\bals (?:ein )?sprachmodell\b"
        r"|\bcomo (?:una? )?(?:ia|inteligencia artificial|modelo de lenguaje|asistente de ia)\b",
        re.IGNORECASE,
    ),
)
_TEMPLATE: Final = re.compile(
    r"\b(?:template|placeholders?|fill[- ]in|blanks?|mail ?merge|vorlage|platzhalter|lückentext"
    r"|ausfüllen|formular"
    r"|plantilla|marcadores|rellenar|formulario)\b",
    re.IGNORECASE,
)
_CAPITALS: Final = re.compile(r"[A-ZÁÉÍÓÚÑ]{2,}(?:\W+[A-ZÁÉÍÓÚÑ]{2,})+")


class PlaceholderCheck:
    """Whoever asks for a template gets one; what stands in the request may stand in the answer."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del criterion
        asked = "\n".join(owner_words(task))
        if _TEMPLATE.search(asked):
            return Finding("no-placeholder", Result.PASS, "a template was asked for")
        found = next((each for each in _holes(evidence.text) if each not in asked), None)
        if found is None:
            return Finding("no-placeholder", Result.PASS)
        return Finding("no-placeholder", Result.FAIL, f"{found!r} was left in")


def _holes(text: str) -> list[str]:
    found = [match for sign in _SIGNS for match in sign.finditer(text)]
    return [match.group(0) for match in found if not _shouted(match, text)]


def _shouted(match: re.Match[str], text: str) -> bool:
    """Whether TODO is the Spanish word, in a line of capitals: `TODO INCLUIDO`."""
    if match.group(0) != "TODO":
        return False
    return any(run.start() <= match.start() < run.end() for run in _CAPITALS.finditer(text))
