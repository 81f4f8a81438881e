"""How one takes a word back while speaking: "no wait, make that", "ich meine", "mejor dicho"."""

from dataclasses import dataclass
from typing import Final

from remit.language.phrases import Phrases, some, words


@dataclass(frozen=True, slots=True, eq=False)
class Turns:
    """`strong` ones take something back wherever it stood, `weak` ones only what they follow."""

    strong: Phrases[bool]
    weak: Phrases[bool]
    late: Phrases[bool]  # weak ones that may take back a time said earlier in the sentence
    leads: frozenset[str]  # behind these it is told, not said: "that I meant Tuesday"
    after: Phrases[bool]  # "instead", behind the word that counts


ENGLISH: Final = Turns(
    strong=some(
        "i mean|i meant|i actually meant|make that|make it|scratch that|strike that|no wait",
        "wait no|no hang on|hang on no|correction :|or rather|actually make it|actually no",
        "change that to|change it to|let's say|let's make it|no make it|i mean for|make that for",
        "make it for|let's do|no let's do",
    ),
    weak=some("no|wait|sorry|actually|rather|oops|nope|better|oh|hang on|hold on|nah|uh|um|er"),
    late=some("actually|sorry|oops|wait|better|rather"),
    leads=words("that to what"),
    after=some("instead"),
)
GERMAN: Final = Turns(
    strong=some(
        "ich meine|ich meinte|nein warte|warte nein|quatsch|ach quatsch|besser gesagt|korrektur :",
        "ach nein|nein doch|sagen wir|vielmehr|ich wollte sagen|nee warte|halt nein|stopp nein",
        "mach lieber|mach doch lieber|nein lieber|doch lieber|nee doch|mach das lieber|nee lieber",
        "mach daraus|mach draus|nein moment",
    ),
    weak=some("nein|nee|warte|sorry|lieber|besser|ach|moment|halt|entschuldigung|pardon|äh|ähm"),
    late=some("sorry|lieber|besser|warte|entschuldigung|moment|ach"),
    leads=words("dass daß was"),
    after=some("stattdessen"),
)
SPANISH: Final = Turns(
    strong=some(
        "quiero decir|quería decir|quise decir|mejor dicho|no espera|espera no|me refiero a",
        "me refería a|corrección :|ay no|no perdón|perdón no|no mejor|o mejor dicho|no digo",
        "digo mejor|mejor que sea|que sea mejor|cámbialo a|cámbialo al",
    ),
    weak=some("no|perdón|espera|mejor|ay|digo|bueno|sorry|disculpa|eh"),
    late=some("perdón|mejor|espera|digo|disculpa|sorry"),
    leads=words("que"),
    after=some("en su lugar"),
)
TURNS: Final = {"en": ENGLISH, "de": GERMAN, "es": SPANISH}
