"""Pages in the language of their reader: templates and scripts are translated as they are loaded.

A sentence stands in English in its template or script. The table `pages` of `sentences.toml` in
`remit.language` has it in German and Spanish; `{0}` is what differs.
"""

import re
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from typing import Final, TypeAlias

from remit.language.sentences import (
    DEFAULT_LANGUAGE,
    TRANSLATED,
    LanguagePreference,
    page_sentences,
    text_in_language,
)

Translate: TypeAlias = Callable[[str], str]

LANGUAGES: Final = (DEFAULT_LANGUAGE, *TRANSLATED)
_current: Final[ContextVar[str]] = ContextVar("page_language", default=DEFAULT_LANGUAGE)

_ELEMENT: Final = r"<(?:code|kbd|span class=\"mono\")>[^<]*</\w+>"
_EXPRESSION: Final = r"{{.*?}}"
_PIECE: Final = re.compile(
    rf"{{#.*?#}}|{{%.*?%}}|{_EXPRESSION}|{_ELEMENT}"
    rf"|<(?:[^<>{{]|{_EXPRESSION}|{{%.*?%}}|{{#.*?#}})*>|[^<{{]+|.",
    re.DOTALL,
)
_PLACE: Final = re.compile(rf"{_EXPRESSION}|{_ELEMENT}", re.DOTALL)
_EDGE: Final = re.compile(rf"((?:\s|{_ELEMENT})*)(.*?)((?:\s|{_ELEMENT})*)", re.DOTALL)
_ICON: Final = re.compile(r"{{-?\s*(?:i|st|status|caller|self)\b")
_UNSAID: Final = re.compile(r"<(?:pre|script|style)\b|<[^>]*\bmono\b")
_ATTRIBUTE: Final = re.compile(
    rf'(\s(?:aria-label|title|placeholder|data-command)=")((?:[^"{{]|{_EXPRESSION}|{{%.*?%}})*)"',
    re.DOTALL,
)
_WORD: Final = re.compile(r"[^\W\d_]{2}")
_NO_WORD: Final = re.compile(r"{\d}|&\w+;|Remit")
_QUOTED: Final = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`([^`\\]*)`')
_IN_QUOTED: Final = re.compile(r"\$\{(?:[^{}]|\{[^{}]*\})*\}")


def choose(accepted: str) -> None:
    """Set the language of this request's pages: the owner's choice, or the browser's."""
    _current.set(LanguagePreference.chosen or preferred_language(accepted))


def preferred_language(accepted: str) -> str:
    """Return the best language for an Accept-Language header."""
    weighed: list[tuple[float, str]] = []
    for each in accepted.lower().split(",")[:20]:
        name, _, weight = each.partition(";q=")
        code = name.strip()[:2]
        try:
            weighed.append((-float(weight or 1), code))
        except ValueError:
            continue
    known = (code for weight, code in sorted(weighed, key=lambda one: one[0]) if weight)
    return next((code for code in known if code in LANGUAGES), DEFAULT_LANGUAGE)


def current() -> str:
    return _current.get()


def say(sentence: str, *values: object) -> str:
    """Return a sentence of the catalogue in the reader's language, with its values."""
    found = page_sentences(_current.get()).get(sentence, sentence)
    return found.format(*values) if values else found


def retell(sentence: str) -> str:
    """Return what another room says, such as a reason, in the reader's language."""
    return text_in_language(sentence, _current.get(), pages=True)


@cache
def catalogue(language: str) -> Translate:
    known = page_sentences(language)
    return lambda sentence: known.get(sentence, sentence)


def translate_template(source: str, translate: Translate) -> str:
    """Return a template with every sentence translated; what is computed stays as it is."""
    made: list[str] = []
    run: list[str] = []
    unsaid = in_nav = False
    for found in _PIECE.finditer(source):
        piece = found[0]
        if _is_said(piece):
            run.append(piece)
            continue
        made.append(_translate_run("".join(run), translate, unsaid=unsaid))
        run.clear()
        in_nav = piece.startswith("{% block nav") or (in_nav and "endblock" not in piece)
        unsaid = in_nav or _UNSAID.match(piece) is not None
        made.append(_ATTRIBUTE.sub(lambda each: _attribute(each, translate), piece))
    return "".join((*made, _translate_run("".join(run), translate, unsaid=unsaid)))


def _is_said(piece: str) -> bool:
    """Whether a piece of a template belongs to a sentence; tags and statements end one."""
    if piece.startswith("<"):
        return re.fullmatch(_ELEMENT, piece) is not None
    return not piece.startswith(("{%", "{#")) and not _ICON.match(piece)


def _attribute(found: re.Match[str], translate: Translate) -> str:
    parts = re.split(r"({%.*?%})", found[2])
    translated_parts = (
        part if part.startswith("{%") else _translate_run(part, translate) for part in parts
    )
    return f'{found[1]}{"".join(translated_parts)}"'


def _translate_run(text: str, translate: Translate, *, unsaid: bool = False) -> str:
    """Return words between two tags, translated; keys and commands at their ends are left out."""
    edges = _EDGE.fullmatch(text)
    if unsaid or edges is None:
        return text
    places = _PLACE.findall(edges[2])
    numbers = iter(range(len(places)))
    sentence = " ".join(_PLACE.sub(lambda _: f"{{{next(numbers)}}}", edges[2]).split())
    if not _WORD.search(_NO_WORD.sub("", sentence)):
        return text
    translated = translate(sentence)
    if translated == sentence:
        return text
    return edges[1] + re.sub(r"{(\d)}", lambda each: places[int(each[1])], translated) + edges[3]


def translate_script(source: str, translate: Translate) -> str:
    """Return a script with its sentences translated: each is a whole string."""
    return _QUOTED.sub(lambda found: _string(found, translate), source)


def _string(found: re.Match[str], translate: Translate) -> str:
    text = found[1] or found[2] or ""
    places = _IN_QUOTED.findall(text) if found[2] else []
    numbers = iter(range(len(places)))
    sentence = _IN_QUOTED.sub(lambda _: f"{{{next(numbers)}}}", text) if places else text
    translated = translate(sentence)
    if translated == sentence:
        return found[0]
    quote = found[0][0]
    return quote + re.sub(r"{(\d)}", lambda each: places[int(each[1])], translated) + quote
