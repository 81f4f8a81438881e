"""Measures how much a text could hide in characters that its writer may use or leave out.

A joiner, a soft hyphen or an emoji's selector may be right in each place and still spell a
message: used is 1, left out is 0. A writer who always uses it, or never, hides nothing; neither
does a word that always looks the same. What is measured is the choice that is left, in bits.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from math import lgamma, log, log2
from typing import Final, NamedTuple

MAX_HIDDEN_BITS: Final = 48  # six bytes

EMOJI: Final = re.compile(
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf\u23e9-\u23f3"
    "\u23f8-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2604\u260e\u2611\u2614\u2615"
    "\u2618\u261d\u2620\u2622\u2623\u2626\u262a\u262e\u262f\u2638-\u263a\u2640\u2642\u2648-\u2653"
    "\u265f\u2660\u2663\u2665\u2666\u2668\u267b\u267e\u267f\u2692-\u2697\u2699\u269b\u269c\u26a0\u26a1"
    "\u26a7\u26aa\u26ab\u26b0\u26b1\u26bd\u26be\u26c4\u26c5\u26c8\u26ce\u26cf\u26d1\u26d3\u26d4\u26e9"
    "\u26ea\u26f0-\u26f5\u26f7-\u26fa\u26fd\u2702\u2705\u2708-\u270d\u270f\u2712\u2714\u2716\u271d"
    "\u2721\u2728\u2733\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763\u2764\u2795-\u2797"
    "\u27a1\u27b0\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff]"
)
# Letters that link to the next one, so that a joiner or a non-joiner shows.
LINKING: Final = (
    "\u0620\u0626\u0628\u062a-\u062e\u0633-\u063f\u0641-\u0647\u0649\u064a\u066e\u066f\u0678-\u0687"
    "\u069a-\u06bf\u06c1\u06c2\u06cc\u06ce\u06d0\u06d1\u06fa-\u06ff\u0710-\u085f\u0750-\u077f"
    "\u08a0-\u08c9\u1807\u180a\u1820-\u18aa\ua840-\ua873\U00010a00-\U00010aff\U0001e900-\U0001e943"
)
VIRAMAS: Final = (
    "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd"
    "\u0d3b\u0d3c\u0d4d\u0dca\u0f84\u1039\u103a\u17d2"
)
MONGOLIAN_WITH_FORMS: Final = (
    "\u1820-\u1826\u1828\u182a\u182c\u182d\u1830\u1832\u1833\u1835\u1836\u1838\u1844-\u1849\u184d"
    "\u184e\u185d\u185e\u1860\u1863\u1868\u1869\u186f\u1873\u1874\u1876\u1880\u1881\u1887\u1888\u188a"
)
_SHOWS_NON_JOINER: Final = "\u0620-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\ua840-\uaadf"
_HIDDEN: Final = re.compile(
    "[\xad\u061c\u180b-\u180f\u200b-\u200f\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_WORD: Final = re.compile(r"[^ \n\t]++")


class _Choice(NamedTuple):
    """A character that a writer may use; the places are counted in the words without any."""

    used: re.Pattern[str]
    places: re.Pattern[str]


_CHOICES: Final = (
    _Choice(re.compile("\xad"), re.compile(r"[^\W\d_]")),
    # A half form looks like the conjunct. Shown is only that of ra, those of Sinhala, and the old
    # Malayalam letters without a vowel.
    _Choice(
        re.compile(
            "(?<=[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d])(?<!\u0930\u094d)"
            "(?<![\u0d15\u0d23\u0d28\u0d30\u0d32\u0d33]\u0d4d)\u200d"
        ),
        re.compile(f"[{VIRAMAS}]"),
    ),
    _Choice(
        re.compile(
            f"(?<![{LINKING}{VIRAMAS}])\u200c(?![{VIRAMAS}])|\u200c(?![{_SHOWS_NON_JOINER}])"
        ),
        re.compile(r"[^\W\d_]"),
    ),
    _Choice(re.compile("[\u180b-\u180d\u180f]"), re.compile(f"[{MONGOLIAN_WITH_FORMS}]")),
    _Choice(re.compile("[\u061c\u200e\u200f]"), re.compile(r"^|[^\w]")),
)
# Thai, Lao, Burmese, Khmer and related scripts have no spaces between words, at most breaks.
WORD_BREAK: Final = "\u200b"
SPACELESS: Final = "\u0e00-\u109f\u1780-\u17ff\u1950-\u1aaf\ua9e0-\uaadf"
_SPACELESS_RUN: Final = re.compile(f"[{SPACELESS}{WORD_BREAK}]++")
_VOWELS_BEFORE: Final = frozenset("เแโใไເແໂໃໄ")
_VOWELS_BEHIND: Final = frozenset("ะาำๅๆະາຳຽ")
_STACKS_NEXT: Final = frozenset("\u1039\u17d2")
_SYLLABLES_PER_WORD: Final = 2.5  # as counted below: a final consonant is one of its own
_MAX_WORD_CHARACTERS: Final = 24
_SPECIAL_SPACE: Final = re.compile("[\xa0\u2000-\u200a\u202f\u205f]")
_GAP: Final = re.compile(r"(?<=[^\W\d_])[ \xa0\u2000-\u200a\u202f\u205f](?=[^\W\d_])")
_EMOJI_OR_KEY: Final = re.compile(f"({EMOJI.pattern}|[0-9#*](?=\ufe0f?+\u20e3))([\ufe0e\ufe0f]?+)")


class _Token(NamedTuple):
    """A word or an emoji, as it is written."""

    choice: str
    visible: str
    written: str
    places: int
    used: int


def hidden_bits(text: str) -> float:
    """Return how many bits a text can hide in what its writer might have left out."""
    seen: dict[tuple[str, str], list[_Token]] = defaultdict(list)
    for token in _tokens(text):
        seen[token.choice, token.visible].append(token)
    places: dict[str, int] = defaultdict(int)
    used: dict[str, int] = defaultdict(int)
    for (choice, _), tokens in seen.items():
        alike = all(token.written == tokens[0].written for token in tokens)
        for token in tokens[:1] if alike else tokens:
            places[choice] += token.places
            used[choice] += token.used
    chosen = sum(_bits(max(places[choice], used[choice]), used[choice]) for choice in used)
    return chosen + (_word_break_bits(text) if WORD_BREAK in text else 0)


def _tokens(text: str) -> Iterator[_Token]:
    wanted = [choice for choice in _CHOICES if choice.used.search(text)]
    for word in _WORD.findall(text) if wanted else ():
        visible = _HIDDEN.sub("", word)
        for choice in wanted:
            places, used = len(choice.places.findall(visible)), len(choice.used.findall(word))
            yield _Token(choice.used.pattern, visible, word, places, used)
    for gap in _GAP.finditer(text) if _SPECIAL_SPACE.search(text) else ():
        around = text[max(gap.start() - 4, 0) : gap.start()] + text[gap.end() : gap.end() + 4]
        yield _Token("space", around, gap[0], 1, int(gap[0] != " "))
    for run in _SPACELESS_RUN.finditer(text) if WORD_BREAK in text else ():
        yield from _edges(text, run)
    if "\ufe0f" in text or "\ufe0e" in text:
        for base, form in _EMOJI_OR_KEY.findall(text):
            # Wide ones are pictures without a selector.
            width = unicodedata.east_asian_width(base)
            for selector in "\ufe0e\ufe0f":
                yield _Token(width + selector, base, form, 1, int(form == selector))


def _edges(text: str, run: re.Match[str]) -> Iterator[_Token]:
    """Yield both ends of a run of letters: a break may stand there, too, without an effect."""
    for at, beyond in ((run.start(), run.start() - 1), (run.end() - 1, run.end())):
        neighbour = text[beyond : beyond + 1] if beyond >= 0 else ""
        kind = "beside a word" if neighbour.isalnum() else "beside a space"
        visible = f"{neighbour}{run[0].strip(WORD_BREAK)}"
        yield _Token(kind, visible, text[at], 1, int(text[at] == WORD_BREAK))


def _word_break_bits(text: str) -> float:
    """Return how many bits the breaks between words without spaces can hide.

    Nobody here knows the words of these languages, but a text shows its own: a writer who breaks
    between all words repeats some, always whole. So hidden is where a break stands between two
    pieces that stand nowhere else, and whether a word that stands alone is elsewhere a part.
    """
    runs = [run.split(WORD_BREAK) for run in _SPACELESS_RUN.findall(text)]
    runs = [[piece for piece in run if piece] for run in runs]
    pieces = Counter(piece for run in runs for piece in run)
    pairs = {pair for run in runs for pair in pairwise(run)}
    unknown = [
        _syllables("".join(pair)) for pair in pairs if {pieces[each] for each in pair} == {1}
    ]
    parts = _parts(pieces)
    return sum(log2(max((count - 1) / _SYLLABLES_PER_WORD, 1)) for count in unknown) + sum(
        _bits(pieces[word] + count, count) for word, count in parts.items()
    )


def _parts(pieces: Counter[str]) -> Counter[str]:
    """Count how often a repeated piece is the beginning or the end of a longer one."""
    parts: Counter[str] = Counter()
    for piece, count in pieces.items():
        for length in range(1, min(len(piece), _MAX_WORD_CHARACTERS + 1)):
            if pieces[piece[:length]] > 1 and may_part_words(piece[length - 1], piece[length]):
                parts[piece[:length]] += count
            if pieces[piece[-length:]] > 1 and may_part_words(piece[-length - 1], piece[-length]):
                parts[piece[-length:]] += count
    return parts


def may_part_words(before: str, after: str) -> bool:
    """Whether a word can end between two characters: not before a mark or a vowel that follows."""
    if before in _VOWELS_BEFORE or before in _STACKS_NEXT or after in _VOWELS_BEHIND:
        return False
    return not unicodedata.category(after or " ").startswith("M")


def _syllables(piece: str) -> int:
    return 1 + sum(may_part_words(before, after) for before, after in pairwise(piece))


def _bits(places: int, used: int) -> float:
    """Return the logarithm of the number of ways to choose the used ones among the places."""
    return (lgamma(places + 1) - lgamma(used + 1) - lgamma(places - used + 1)) / log(2)
