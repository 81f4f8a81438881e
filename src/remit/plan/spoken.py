"""Small numbers and names of languages, as people say them in English, German and Spanish."""

from collections.abc import Mapping
from typing import Final

from remit.language.numbers import CARDINALS

_NAMES: Final = {
    "en": ("English", "english englisch englische inglés ingles"),
    "de": ("German", "german deutsch deutsche alemán aleman"),
    "es": ("Spanish", "spanish spanisch spanische español espanol castellano"),
    "fr": ("French", "french französisch französische francés"),
    "it": ("Italian", "italian italienisch italienische italiano"),
    "pt": ("Portuguese", "portuguese portugiesisch portugiesische portugués"),
    "nl": ("Dutch", "dutch niederländisch niederländische neerlandés holandés"),
    "pl": ("Polish", "polish polnisch polnische polaco"),
    "sv": ("Swedish", "swedish schwedisch schwedische sueco"),
    "da": ("Danish", "danish dänisch dänische danés"),
    "tr": ("Turkish", "turkish türkisch türkische turco"),
    "cs": ("Czech", "czech tschechisch tschechische checo"),
    "ru": ("Russian", "russian russisch russische ruso"),
    "uk": ("Ukrainian", "ukrainian ukrainisch ukrainische ucraniano"),
    "el": ("Greek", "greek griechisch griechische griego"),
    "ar": ("Arabic", "arabic arabisch arabische árabe"),
    "he": ("Hebrew", "hebrew hebräisch hebräische hebreo"),
    "zh": ("Chinese", "chinese chinesisch chinesische chino"),
    "ja": ("Japanese", "japanese japanisch japanische japonés"),
    "ko": ("Korean", "korean koreanisch koreanische coreano"),
    "hi": ("Hindi", "hindi"),
    "th": ("Thai", "thai thailändisch tailandés"),
}
# What a language is called, in small letters: its code, and its name.
LANGUAGES: Final[Mapping[str, tuple[str, str]]] = {
    word: (code, name) for code, (name, said) in _NAMES.items() for word in said.split()
}
_MOST: Final = 20  # "hundred" and its like are rarely meant to the last
_SAID: Final = {name: value for name, value in CARDINALS.items() if 0 < value <= _MOST}
NUMBER: Final = r"\d{1,5}|" + "|".join(sorted(_SAID, key=len, reverse=True))


def number(said: str) -> int:
    """The number that NUMBER matched."""
    return int(said) if said.isdecimal() else _SAID[said.casefold()]
