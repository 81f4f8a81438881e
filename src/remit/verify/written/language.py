"""Which language a text is in: by its letters, and by the small words that any text is full of."""

import re
from collections.abc import Mapping
from typing import Final

from remit.model.contract import NOT_DECIDED, Criterion, Evidence, Finding, Result
from remit.model.task import Task
from remit.verify.written import places
from remit.verify.written.wording import words

_NAMES: Final = (
    "en English|de German|es Spanish|fr French|it Italian|pt Portuguese|nl Dutch|pl Polish"
    "|sv Swedish|da Danish|tr Turkish|cs Czech|ru Russian|uk Ukrainian|el Greek|ar Arabic"
    "|he Hebrew|zh Chinese|ja Japanese|ko Korean|hi Hindi|th Thai"
)
NAMES: Final[Mapping[str, str]] = {each[:2]: each[3:] for each in _NAMES.split("|")}
_WORDS: Final = {
    "en": "the and of to in is are was it that for with on as be this have from you your we our "
    "will not they but or by at an which there their",
    "de": "der die das und ist sind in den zu mit von für nicht ein eine auf es sich dem im auch "
    "wir ihr sie werden wird bei aus nach oder über zum zur des einen uns man",
    "es": "el la los las y de que en un una es son por con para no se su lo del al más pero como "
    "está muy sus le si nos desde hasta este esta",
    "fr": "le la les et de des un une est sont dans pour que qui ne pas vous nous sur avec au aux "
    "du ce cette il elle mais ou où plus par votre notre être",
    "it": "il lo la gli le e di che è sono un una in per con non si del della dei al alla da come "
    "più ma anche questo questa ci nel nella",
    "pt": "o a os as e de que em um uma é são para com não se do da dos das no na por mais como "
    "mas seu sua você ao está também nós",
    "nl": "de het een en van is zijn in op te dat die voor met niet aan er ook om bij naar wordt "
    "worden maar we je u uw of deze dit heeft",
    "pl": "i w na nie się że jest są do z to o jak za od po dla przez który która oraz ale czy być "
    "tym tego",
    "sv": "och att det är en ett i på som för med av inte till den de har om vi du men så kan var "
    "från eller ditt",
    "da": "og at det er en et i på som for med af ikke til den de har om vi du men så kan var fra "
    "eller der jeg dit",
    "tr": "ve bir bu için ile da de çok ne ama daha gibi olarak var olan en kadar sonra her biz "
    "siz değil mi",
    "cs": "a je se na že to v s z do pro jsou ale jako by po od tak který která nebo být už jen",
}
_SMALL: Final = {code: frozenset(line.split()) for code, line in _WORDS.items()}
_SCRIPTS: Final = (
    (re.compile(r"[぀-ヿ]"), "ja"),
    (re.compile(r"[가-힯]"), "ko"),
    (re.compile(r"[一-鿿]"), "zh"),
    (re.compile(r"[іїєґІЇЄҐ]"), "uk"),
    (re.compile(r"[Ѐ-ӿ]"), "ru"),
    (re.compile(r"[Ͱ-Ͽ]"), "el"),
    (re.compile(r"[؀-ۿ]"), "ar"),
    (re.compile(r"[֐-׿]"), "he"),
    (re.compile(r"[ऀ-ॿ]"), "hi"),
    (re.compile(r"[฀-๿]"), "th"),
)
_LETTER: Final = re.compile(r"[^\W\d_]")
_HERE: Final = 0.3  # the share of letters that makes a script the text's own
_LEAST_WORDS: Final = 12
_LEAST_SMALL: Final = 4
_AHEAD: Final = 1.4  # how far the first must lie before the second


class LanguageCheck:
    """`pattern` is the code of a language, like `de`. Of a short text nobody can be sure."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task
        wanted = (criterion.pattern or "").casefold()
        if wanted not in NAMES:
            known = ", ".join(NAMES)
            return Finding("language", Result.FAIL, f"the pattern must be one of {known}")
        found = language_of(evidence.text)
        if found is None:
            why = f"{NOT_DECIDED}too short to tell its language"
            return Finding("language", Result.SKIPPED, why)
        if found == wanted:
            return Finding("language", Result.PASS)
        return Finding("language", Result.FAIL, f"it is in {NAMES[found]}, not in {NAMES[wanted]}")


def language_of(text: str) -> str | None:
    """The language of a text; None if it is too short, or too mixed, to be sure."""
    for pattern in (places.URL, places.MAIL):
        text = pattern.sub(" ", text)
    letters = len(_LETTER.findall(text))
    for script, code in _SCRIPTS:
        if letters and len(script.findall(text)) >= _HERE * letters * (
            0.1 if code in ("uk", "ja") else 1.0
        ):
            return code
    said = [word.casefold() for word in words(text)]
    if len(said) < _LEAST_WORDS:
        return None
    counts = {code: sum(word in small for word in said) for code, small in _SMALL.items()}
    first, second, *_ = sorted(counts, key=lambda code: -counts[code])
    sure = counts[first] >= max(_LEAST_SMALL, _AHEAD * counts[second])
    return first if sure else None


def likely_language(text: str) -> str | None:
    """The language with the most small words in a text, however short; None if two have as many."""
    said = [word.casefold() for word in words(text)]
    counts = sorted(
        ((sum(word in _SMALL[code] for word in said), code) for code in _SMALL), reverse=True
    )
    (most, code), (second, _) = counts[:2]
    return code if most > second else None
