"""What a question asks for, and what an answer to it must have: a price, a time, a name."""

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from remit.language.numbers import NUMBER_WORDS
from remit.verify.written.figures import (
    AmountFigure,
    DateFigure,
    DurationFigure,
    Figure,
    MailFigure,
    PageFigure,
    PhoneFigure,
    TimeFigure,
)
from remit.verify.written.wording import STOP, fold, words

Seen: TypeAlias = Callable[["MeasuredText"], bool]


class MeasuredText(Struct, frozen=True):
    """A text with its figures; `folded` is in small letters without accents."""

    text: str
    folded: str
    figures: Sequence[Figure]

    def has(self, *kinds: type[Figure]) -> bool:
        return any(isinstance(each, kinds) for each in self.figures)

    def measures(self, *units: str) -> bool:
        amounts = (each for each in self.figures if isinstance(each, AmountFigure))
        return any(each.number.unit.startswith(units) for each in amounts if each.number.unit)

    def counts(self) -> bool:
        """Whether it says how many; a year says nothing of the kind."""
        amounts = (each.said for each in self.figures if isinstance(each, AmountFigure))
        some = any(not re.fullmatch(r"(?:19|20)\d\d", each) for each in amounts)
        return some or any(fold(word) in NUMBER_WORDS for word in words(self.text))

    def says(self, pattern: str) -> bool:
        return re.search(rf"\b(?:{pattern})", self.folded) is not None


class Topic(Struct, frozen=True):
    name: str
    asked: re.Pattern[str]
    seen: Seen
    loose: bool = False  # whether an answer may have it in words that nobody can foresee


def _topic(name: str, asked: str, seen: Seen, *, loose: bool = False) -> Topic:
    return Topic(name, re.compile(rf"\b(?:{asked})"), seen, loose)


_WEEKDAY: Final = (
    r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:days?)?\b|(?:mon|diens|donners"
    r"|frei|sams|sonn)tag|mittwoch"
    r"|lunes|martes|miercoles|jueves|viernes|sabado|domingo|(?:mo|di|mi|do|fr|sa|so)\b-"
)
_SOON: Final = (
    r"today|tomorrow|tonight|now|immediately|always|daily|every|heute|morgen|sofort|taglich|immer"
    r"|jede|ende|anfang|hoy|manana|ya\b"
    r"|en el (?:acto|momento)|siempre|cada|noon|midnight|close|geschlossen|cerrad|week|woche"
    r"|semana|month|monat|mes\b"
)
_FREE: Final = (
    r"free|gratis|kostenlos|umsonst|frei\b|included|inklusive|incluid|no charge|sin coste"
    r"|sin matricula|cheap|gunstig|barat"
)
_STREET: Final = (
    r"[\w-]*(?:street|strasse|str\b|road|lane|avenue|square|platz|weg\b|allee|gasse|quay)|calle"
    r"|paseo|plaza|avenida|carretera"
    r"|address|adresse|direccion"
)
# A house has a number, and a town one of its own: Rúa Nova 45, 99423 Weimar.
_NUMBERED: Final = re.compile(
    r"(?:\b(?:at|in|en|am|an)|[,:]|^)\s*(?:[A-ZÄÖÜÁÉÍÓÚÑ][\w]+[ .]+){1,3}\d{1,4}\b"
    r"(?!\s?(?:am\b|pm\b|uhr|h\b|to\b|bis\b|a\b|[-–:.,]?\d|[€$£%]))|\b\d{4,5} [A-ZÄÖÜ]",
    re.MULTILINE,
)
_NEARBY: Final = (
    r"(?:bus|tram|metro|train|zug|u-bahn|station|bahnhof|halt|next to|opposite|near|neben|liegt"
    r"|junto|cerca|centr|zentr|located|zu fuss)"
    r"|\d+ minut\w* (?:walk|from|zu fuss|a pie)|[\d.,]+ ?k?m\b"
)
_AT: Final = re.compile(
    r"\b(?:at|in|im|am|beim|en) (?:(?:the|der|dem|den|la|el|los|las) )?[A-ZÄÖÜÁÉÍÓÚÑ](?!onday"
    r"|uesday|ednesday|hursday|riday|aturday|unday"
    r"|anuary|ebruary|arch|pril|une|uly|ugust|eptember|ctober|ovember|ecember|anuar|ebruar|ärz"
    r"|ai\b|uni|uli|ktober|ezember)\w+"
)
_CAPITAL: Final = r"[A-ZÄÖÜÁÉÍÓÚÑ][\w’'-]+"
_NAME: Final = re.compile(rf"\b({_CAPITAL}) (?:[a-z]{{2,3}} )?({_CAPITAL})")
_CAMEL: Final = re.compile(r"\b[A-Z][a-z]+[A-Z]\w+")  # how companies call themselves
_TITLED: Final = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau|Sr|Sra|Don|Doña)\b\.? ?[A-ZÄÖÜÁÉÍÓÚÑ]|\bby [A-Z]"
    r"|\bvon [A-Z]|: [A-Z]\w+ [A-Z]"
)
_PICK: Final = (
    r"recommend|suggest|pick|i would|i'd|i’d|choose|go for|take the|best|better|worth|cheapest"
    r"|winner|opt for|should"
    r"|empfehl|empfiehl|vorschlag|wurde|nimm|nehmen|am besten|besser|beste|lohnt|gunstigst"
    r"|billigst|entscheid"
    r"|recom[ie]|conviene|elegir|elige|mejor|sugier|yo (?:iria|tomaria)|merece|quedate|opta"
)
_JOIN: Final = (
    r"register|sign|book|apply|write to|call|form\b|anmeld|buch|bewerb|schreib|regist|inscri"
    r"|apunt|reserv|solicit|llam|escrib"
)


def _named(answer: MeasuredText) -> bool:
    """Whether someone is named: two words with capitals that do not only begin a sentence."""
    pairs = (found.groups() for found in _NAME.finditer(answer.text))
    single = _TITLED.search(answer.text) or _CAMEL.search(answer.text)
    return single is not None or any(
        fold(first) not in STOP and fold(last) not in STOP for first, last in pairs
    )


def _addressed(answer: MeasuredText) -> bool:
    return answer.says(_STREET) or _NUMBERED.search(answer.text) is not None


def _weather(answer: MeasuredText) -> bool:
    signs = (
        r"sun|rain|cloud|snow|wind|storm|warm|cold|dry|wet|sonn|regen|wolk|schnee|trocken|kalt"
        r"|schauer|grad|sol\b|lluv|nub|niev|vient|frio|calor|grados"
    )
    return answer.measures("°") or answer.says(signs)


TOPICS: Final = (
    _topic(
        "price",
        r"price|cost|how much (?:is|does|do|are|did)|fee\b|fees\b|fare|charge\b|preis|kostet"
        r"|kosten\b|gebuhr|tarif|precio|coste|cuesta|cuota|tarifa|cuantia|importe",
        lambda a: a.measures("money") or a.says(_FREE) or a.has(AmountFigure),
    ),
    _topic(
        "hours",
        r"opening (?:hours|times)|hours\b|is it open|offnungszeit|offnet|geoffnet|sprechzeit"
        r"|offen\b|horarios?\b|abre\b",
        lambda a: (
            a.has(TimeFigure) or a.says(_WEEKDAY) or a.says(r"\d+ ?(?:-|–|to|bis|a|until) ?\d")
        ),
    ),
    _topic(
        "when",
        r"(?:out|me|know|see|and|or|from|until|^\W*) ?when\b|date\b|deadline|from when|until when"
        r"|wann\b|datum|frist|termin|cuando|fecha"
        r"|plazo|a que hora|what time|times?\b|uhrzeit|hora\b|departure",
        lambda a: (
            a.has(TimeFigure, DateFigure)
            or a.says(_WEEKDAY)
            or a.says(_SOON)
            or bool(re.search(r"\b\d{4}\b", a.text))
        ),
    ),
    _topic(
        "length",
        r"how long|duration|wie lange|dauert|dauer\b|cuanto (?:tarda|dura)|duracion|tarda\b",
        lambda a: (
            a.has(DurationFigure, TimeFigure)
            or a.says(
                r"[\w.,-]+ (?:working )?(?:minut|hour|day|week|month|year|stunde|tag|woche|monat"
                r"|jahr|hora|dia|semana|mes|ano)"
            )
            or a.says(_SOON)
            or a.measures("h", "min")
        ),
    ),
    _topic("address", r"address\b|adresse|anschrift|direccion", _addressed),
    _topic(
        "where",
        r"(?:out|me|know|see|check|and|or) where\b|where (?:is|are|can|do|does|to|it)\b|place\b"
        r"|ort\b|lugar\b|location|get there|wo\b|anfahrt|lage\b|hinkomm|donde|ubicacion",
        lambda a: _addressed(a) or a.says(_NEARBY) or _AT.search(a.text) is not None,
    ),
    _topic(
        "size",
        r"how (?:big|large|tall|high)|size\b|area\b|wie (?:gross|hoch)|grosse\b|flache|tamano"
        r"|superficie",
        lambda a: a.has(AmountFigure) or a.says(r"small|large|big|klein|gross|pequen|grande"),
    ),
    _topic(
        "phone",
        r"phone|telephone|telefon|telefono|movil\b",
        lambda a: a.has(PhoneFigure) or bool(re.search(r"\d[\d ()/-]{5,}\d", a.text)),
    ),
    _topic(
        "mail",
        r"e-?mail (?:address|of)|per e-?mail|correo\b|mailadresse",
        lambda a: a.has(MailFigure),
    ),
    _topic(
        "contact",
        r"contact\b|kontakt|contacto|erreich",
        lambda a: a.has(MailFigure, PhoneFigure, PageFigure),
    ),
    _topic(
        "page",
        r"website|link\b|url\b|webseite|homepage|enlace|pagina web",
        lambda a: a.has(PageFigure),
    ),
    _topic(
        "who",
        r"(?:out|me|know|see|and|or|^\W*) ?who\b|wer\b|wen\b|quien|(?:the|a|his|her|their"
        r"|full) names?\b|(?:den|der|die) namen?\b"
        r"|(?:el|los) nombres?\b",
        _named,
        loose=True,
    ),
    _topic(
        "many",
        r"how many|wie viele|wieviele|cuant[oa]s|number of|zahl der|anzahl",
        lambda a: a.counts(),
    ),
    _topic(
        "energy",
        r"calories|kalorien|calorias",
        lambda a: a.says(r"(?:[\d.,]+ ?)?(?:k?cal\b|calor|kalor)"),
    ),
    _topic("weather", r"weather|wetter|temperatur|clima\b|tiempo hara|que tiempo", _weather),
    _topic(
        "weight",
        r"weight\b|weigh|gewicht|wiegt|peso\b|pesa\b",
        lambda a: (
            a.measures("kg", "g", "mg")
            or a.says(
                r"[\d.,]+ ?(?:kg|g\b|kilo|gram|lb|pound|tonn)|light|heav|leicht|schwer|liger|pesad"
            )
        ),
    ),
    _topic(
        "pick",
        r"recommend|suggest (?:one|which|the)|which (?:one )?is (?:the )?(?:best|better)|empfiehl"
        r"|empfehl|welche[rs]? (?:ist|besser)|recomiend|conviene|cual es mejor",
        lambda a: a.says(_PICK),
    ),
    _topic(
        "join",
        r"sign up|register|apply\b|anmeld|inscrib|apuntar",
        lambda a: a.says(_JOIN) or a.has(MailFigure, PageFigure, PhoneFigure),
    ),
)
# Who is asked to write or to sum up answers with the text itself; no word of it can be missing.
SELF: Final = re.compile(
    r"^\W*(?:please |bitte |por favor )?(?:(?:can|could) you )?(?:read|go through|use|plan|lies"
    r"|nimm|lee|usa|write|draft|compose|translate"
    r"|summari[sz]e|sum up|explain|proofread|rewrite|prepare|compile|compare|research"
    r"|make|create|give me|describe|schreib|entwirf|verfass|ubersetz|fass|erklar|mach|erstell"
    r"|beschreib|vergleich|recherchier|gib|stell"
    r"|escrib|redact|traduc|resum|explic|prepar|haz|crea|describ|compar|investig|invent|dame"
    r"|pasame)"
)

# Who is asked for things answers with their names, not with the word for them.
THINGS: Final = re.compile(
    r"^\W*(?:please |bitte |por favor )?(?:can you |could you )?(?:list|find|search|name\b|suggest"
    r"|show|calculate|work out|look|check|get|tell|such|finde|nenn|zeig|berechne|rechne|pruf|schau"
    r"|busca|encuentra|muestra|lista|calcula|mira|di\b|dime|averigua)"
)
QUESTIONS: Final = re.compile(r"^\W*(?:what|which|how|was|welche|wie|que|cual|como)\b")


def topics_of(item: str) -> list[Topic]:
    """What a piece of a request asks for, as far as its words tell."""
    folded = fold(item)
    return [topic for topic in TOPICS if topic.asked.search(folded)]
