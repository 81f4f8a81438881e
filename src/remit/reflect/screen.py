"""What no lesson may say: nothing about recipients, permissions, or tools.

The screen may only become stricter. A good lesson that is refused costs nothing, because the owner
can edit the file; a bad one that passes is still only a proposal.
"""

import re
import unicodedata
from collections.abc import Collection
from typing import Final

from remit.model.lesson import Lesson, LessonFile

MAX_CHARACTERS: Final = 200  # characters of a guideline
_FIELDS: Final = ("objective", "series", "sender_domain", "source", "weekday", "time")
# One or more words of a person, in the form of our rules.
_WHEN: Final = re.compile(
    r"objective matches /\\b[\w -]{3,60}\\b/i"
    r"|series is ser-[0-9A-Za-z]{26}"
    r"|sender_domain is (?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}"
    r"|source is [a-z]{3,20}"
    r"|weekday in \[?[a-z, -]{3,40}\]?"
    r"|time in \d\d:\d\d-\d\d:\d\d"
)
_PLAIN: Final = re.compile(r"[\w .,;:'’\"“”()%€$/&–-]+")
_WORD: Final = re.compile(r"[^\W\d_]+")
_LONG_NUMBER: Final = re.compile(r"\d[\d .,-]{4,}\d")

# Stems: `forward` refuses forwards, forwarded and forwarding.
_WHOM: Final = """
send sent forward deliver recipient addressee address cc bcc copy mail email whatsapp sms
telegram contact phone reply respond notify tell inform share post publish upload everybody
everyone anybody anyone someone customer client colleague boss stranger sende schick weiterleit
leite empfänger adress kopie antwort kontakt nachricht telefon mitteil teile jeder jedem alle
kunde chef enví envia reenv destinatari direcci correo teléfono compart todos jefe"""
_ALLOWED: Final = """
permi allow approv authori consent confirm ask asked asking review verif check trust polic rule
right grant skip bypass ignor disregard override instruction guideline system prompt admin owner
secret password passwort token key credential login sign priorit urgent erlaub genehmig freigab
freigeb bestätig frag prüf vertrau regel richtlinie anweisung übergeh geheim besitzer autoriz
aprob pregunt revis confia regla instrucci omit contraseñ dueñ"""
_WITH: Final = """
tool call command run running execut shell bash script program mcp api function http url link
website brows fetch download install open file folder path database sql code calendar create
delete remove task delegat agent model budget money pay payment transfer buy werkzeug befehl
ausführ datei ordner herunterlad lösch aufgab öffne bezahl überweis kauf herramienta comando
ejecut archivo carpeta descarg borr tarea pag paga compr"""
_REFUSED: Final = {
    **dict.fromkeys(_WHOM.split(), "whom something goes to"),
    **dict.fromkeys(_ALLOWED.split(), "what is allowed"),
    **dict.fromkeys(_WITH.split(), "tools"),
}
# Words that begin like a refused one and mean something else.
_HARMLESS: Final = frozenset({"sentence", "sentences", "fragment", "fragments"})
_MAX_WORDS: Final = 40
_SHORT: Final = 3


def objection(lesson: Lesson, names: Collection[str] = ()) -> str | None:
    """Return why a lesson may not be proposed; None if it may.

    `names` may not be mentioned: people, channels and tools.
    """
    if lesson.file is LessonFile.RULES:
        return _of_rule(lesson)
    return of_words(lesson.text, names)


def of_words(text: str, names: Collection[str] = ()) -> str | None:
    """The same of a guideline."""
    if not text.strip() or len(text) > MAX_CHARACTERS or len(text.split()) > _MAX_WORDS:
        return f"a guideline is one line of at most {MAX_CHARACTERS} characters"
    if text.lstrip().startswith("#") or not _PLAIN.fullmatch(text):
        return "a guideline is plain words"
    if _LONG_NUMBER.search(text):
        return "a guideline holds no long number"
    folded = unicodedata.normalize("NFKC", text).casefold()
    for name in names:
        if _says(folded, name):
            return "it names somebody or something of this house"
    about = next((why for word in _WORD.findall(folded) if (why := _about(word))), None)
    return f"it speaks of {about}" if about else None


def _of_rule(lesson: Lesson) -> str | None:
    if lesson.priority is None or not lesson.when:
        return "a rule has a condition and a priority"
    field = lesson.when.partition(" ")[0]
    if field not in _FIELDS:
        return f"a rule that is learned does not look at {field!r:.40}"
    if not _WHEN.fullmatch(lesson.when):
        return "a rule that is learned has one plain condition"
    return None


def _about(word: str) -> str | None:
    if word in _HARMLESS:
        return None
    return next((why for stem, why in _REFUSED.items() if _begins(word, stem)), None)


def _begins(word: str, stem: str) -> bool:
    # A short stem must be the whole word: `api` does not refuse `rapid`, `run` not `trunk`.
    return word in (stem, f"{stem}s") if len(stem) <= _SHORT else word.startswith(stem)


def _says(folded: str, name: str) -> bool:
    said = unicodedata.normalize("NFKC", name).casefold().strip()
    return len(said) > 1 and re.search(rf"(?<!\w){re.escape(said)}(?!\w)", folded) is not None
