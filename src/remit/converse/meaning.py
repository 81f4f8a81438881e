"""What a sentence of the owner asks about tasks that are there: an act, a look, a correction.

Only whole sentences of a known form are read here. Everything else is for intake, which reads what
is to be done, or for a model, which answers questions and does nothing.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from remit.converse.phrases import Table, Words, bare, fold, some, words_of

_MOST_WORDS: Final = 14
_MOST_CORRECTED: Final = 8


class Act(StrEnum):
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    RUN = "run"


class Look(StrEnum):
    RUNNING = "running"
    PLANNED = "planned"
    WAITING = "waiting"
    FAILED = "failed"
    DID = "did"
    STATUS = "status"


@dataclass(frozen=True, slots=True)
class Thing:
    """Which task is meant: by a pronoun, by words of its title, or all of them."""

    words: Words = ()
    pointed: bool = False  # "it"
    named: bool = False  # "the … task": a task is meant, and nothing else
    all: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    act: Act
    thing: Thing


@dataclass(frozen=True, slots=True)
class Query:
    look: Look
    thing: Thing = Thing()
    when: Words = ()


@dataclass(frozen=True, slots=True)
class Approval:
    """Words that approve what is shown, such as "yes, send it"."""


@dataclass(frozen=True, slots=True)
class Correction:
    """`firm`: it can be nothing else. Otherwise it is one only if the words are a time."""

    words: str
    firm: bool


def read(text: str) -> Command | Query | Correction | Approval | None:
    """What the whole of a message means; None if it is none of these."""
    line = text.strip()
    if "\n" in line or ". " in line or len(line) > 300:  # noqa: PLR2004 - a sentence
        return None
    words = bare(words_of(line))
    if _APPROVALS.read(words):
        return Approval()
    if _RETRACTIONS.read(words):
        return Command(Act.CANCEL, Thing(pointed=True))
    if not 1 <= len(words) <= _MOST_WORDS:
        return None
    return _query(words) or _command(words) or _correction(line)


def thing_of(words: Words) -> Thing:
    """Which task some words point at."""
    inner = bare(words, _ARTICLES, _ARTICLES)
    if not inner or all(word in _PRONOUNS for word in inner):
        return Thing(pointed=True)
    if all(word in _ALL for word in inner):
        return Thing(all=True)
    left = tuple(word for word in inner if word not in _NOUNS | _ARTICLES)
    return Thing(left, pointed=not left, named=len(left) < len(inner))


def _command(words: Words) -> Command | None:
    found = _ACTS.read(words)
    if found is None:
        return None
    act, inner = found
    return None if _LINKS & set(inner) else Command(act, thing_of(inner))


def _query(words: Words) -> Query | None:
    found = _LOOKS.read(bare(words, _NOW, _NOW))
    if found is None:
        return None
    look, inner = found
    if look is Look.STATUS:
        return Query(look, thing_of(inner))
    if look is Look.DID:
        when, thing = _split(inner)
        return Query(look, thing_of(thing) if thing else Thing(), when)
    return Query(look)


def _split(words: Words) -> tuple[Words, Words]:
    """Cut "at 8 with the newsletter" into when and what."""
    at = next((n for n, word in enumerate(words) if word in _WITH), len(words))
    return words[:at], words[at + 1 :]


def _correction(line: str) -> Correction | None:
    """What is left behind the words that open a correction."""
    left, firm, opened = line.strip(" .!"), False, False
    while found := _opening(left):
        left, sure = found
        firm, opened = firm or sure, True
    for tail in _TAILS:
        if fold(left).endswith(f" {tail}"):
            left, firm, opened = left[: -len(tail)].rstrip(" ,"), True, True
    few = 0 < len(left.split()) <= _MOST_CORRECTED
    return Correction(left, firm) if opened and few else None


def _opening(line: str) -> tuple[str, bool] | None:
    folded = fold(line)
    if len(folded) != len(line):
        return None  # a letter that folds to two: places would not fit
    for phrase, firm in _OPENERS:
        rest = folded[len(phrase) :]
        if folded.startswith(phrase) and rest[:1] in (" ", ",", ":"):
            return line[len(phrase) :].lstrip(" ,:.-"), firm
    return None


# Only these words approve; a model may propose an approval, and never gives one.
_APPROVALS: Final = Table(
    {
        True: "approve|approve it|approve that|approve this|approved|send it|send it now"
        "|yes send it|yes send|yes go ahead|go ahead|go ahead and send it|ok send it|okay send it"
        "|sure send it"
        "|ja schick es|ja schick es ab|ja schick ab|schick es ab|schick ab|ja abschicken|abschicken"
        "|freigeben|genehmigt|genehmige es|ja senden|si envialo|envialo|si mandalo|mandalo"
        "|aprobado|apruebalo|si adelante|adelante"
    }
)
_RETRACTIONS: Final = Table(
    {
        True: "stop|stop it|stop that|never mind|nevermind|nvm|scratch that|strike that|forget it"
        "|forget that|forget about it|actually don't|actually dont|actually no|actually not|don't"
        "|dont|don't do it|dont do it|don't do that|don't send it|dont send it|do not send it"
        "|no don't|no dont|no stop|cancel that|call it off|leave it|on second thought no"
        "|changed my mind|i changed my mind|stopp|stopp das|halt stopp|doch nicht"
        "|lieber nicht|lieber doch nicht"
        "|mach's doch nicht|machs doch nicht|mach das doch nicht|mach es doch nicht|lass es"
        "|lass es sein|lass mal|lass stecken|vergiss es|vergiss das|nicht schicken"
        "|nicht senden|schick es nicht"
        "|schick es doch nicht|nicht abschicken|dejalo|dejalo estar|olvidalo|mejor no|no lo mandes"
        "|no lo envies|no lo hagas|para|para eso|cancelalo|cancela eso|ya no|al final no"
    }
)
_ACTS: Final = Table(
    {
        Act.PAUSE: "pause *|pause|suspend *|put * on hold|hold *|pausiere *|pausier *|halte * an"
        "|halt * an|pausa *|pon * en pausa|pausalo|pausala|pausieren",
        Act.RESUME: "resume *|resume|unpause *|continue with *|continue *|go on with *"
        "|carry on with *|setze * fort|setz * fort|mach weiter mit *|weiter mit *|reanuda *"
        "|continua con *|sigue con *|reanudalo|reanudala",
        Act.CANCEL: "cancel *|cancel|abort *|stop *|call off *|call * off|storniere *|stoppe *"
        "|stopp *|brich * ab|breche * ab|beende *|cancela *|anula *|deten *|cancelalo|cancelala",
        Act.RUN: "run * now|start * now|do * now|run * right now|start * right now|starte * jetzt"
        "|starte * sofort|mach * jetzt|ejecuta * ahora|haz * ahora|empieza * ahora|hazlo ahora"
        "|hazlo ya",
    }
)
_LOOKS: Final = Table(
    {
        Look.RUNNING: "what is running|what's running|whats running|what are you doing"
        "|what are you working on|what runs|what is going on|was lauft|was machst du"
        "|woran arbeitest du|que estas haciendo|que haces|que hay en marcha|en que trabajas",
        Look.PLANNED: "what is planned|what's planned|what is scheduled|what's scheduled"
        "|what is coming up|what's coming up|what is next|what's next|was ist geplant|was steht an"
        "|was kommt als nachstes|que hay planeado|que hay programado|que viene",
        Look.WAITING: "what needs me|what do you need|what do you need from me"
        "|what is waiting for me|what's waiting for me|what waits for me|was brauchst du"
        "|was wartet auf mich|que necesitas|que necesitas de mi|que espera por mi",
        Look.FAILED: "what failed|what has failed|what went wrong|was ist fehlgeschlagen"
        "|was ging schief|was ist schiefgegangen|que fallo|que ha fallado|que salio mal",
        Look.DID: "what did you do *|what did you do|what have you done *|what have you done"
        "|was hast du * gemacht|was hast du gemacht|que hiciste *|que hiciste|que has hecho *"
        "|que has hecho",
        Look.STATUS: "status of *|what is the status of *|what's the status of *|how is * going"
        "|how's * going|how far is *|how far are you with *|is * done|is * done yet|is * finished"
        "|is * ready|what became of *|what about *|wie weit ist *|wie weit bist du mit *"
        "|ist * fertig|was ist mit *|como va *|esta listo *|esta lista *|que paso con *",
    }
)
_PRONOUNS: Final = some("it that this them one es das ihn sie dies lo la eso esto")
_ALL: Final = some("all everything alles alle todo todos todas tasks of them")
_ARTICLES: Final = some(
    "the my this that a an our your der die das den dem mein meine meinen el la los las mi un una"
    " es it with mit con"
)
_NOUNS: Final = some(
    "task thing job one reminder work aufgabe sache ding erinnerung auftrag tarea cosa asunto"
    " recordatorio trabajo"
)
_LINKS: Final = some("and then und dann y luego after before if when wenn si cuando")
_NOW: Final = some(
    "now right currently at the moment just today's gerade jetzt aktuell momentan ahora ahorita"
    " please bitte"
)
_WITH: Final = some("with about for mit wegen fur con sobre")
_TAILS: Final = ("instead", "stattdessen", "en su lugar")
# Longer ones first: "no wait" before "no". What is firm can open nothing but a correction.
_OPENERS: Final = tuple(
    sorted(
        [
            *((each, True) for each in (
                "make it", "make that", "make this", "i meant", "i mean", "change it to",
                "change that to", "change the time to", "move it to", "move that to",
                "reschedule it to", "reschedule it for", "reschedule to", "let's make it",
                "ich meinte", "ich meine", "mach daraus", "verschieb es auf",
                "verschiebe es auf", "verschieb das auf", "quise decir", "que sea",
                "cambialo a", "cambialo para", "muevelo a", "muevelo al",
            )),
            *((each, False) for each in (
                "no wait", "no", "wait", "sorry", "oh", "hmm", "actually", "rather", "better",
                "oops", "nein", "nee", "warte", "lieber", "besser", "doch lieber", "eher", "ach",
                "mejor", "espera", "perdon", "no espera",
            )),
        ],
        key=lambda row: -len(row[0]),
    )
)  # fmt: skip
