"""What is said while one thinks, and dictated with the rest: "um", "äh", "este"."""

from typing import Final

from remit.language.phrases import words

FILLERS: Final = {
    "en": words("um uh uhm umm erm ehm"),
    "de": words("äh ähm öh öhm hm tja"),
    "es": words("eh ehm em mmm"),
}
# These only in front of a verb that asks: elsewhere they mean something.
LEADING: Final = {
    "en": words("so like right"),
    "de": words("also naja na ja"),
    "es": words("este pues bueno"),
}
