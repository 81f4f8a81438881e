"""Measures how much a text could hide in the choices of its writer: in characters, or spellings.

A joiner, a soft hyphen or an emoji's selector may be right in each place and still spell a
message: used is 1, left out is 0. A writer who always uses it, or never, hides nothing; neither
does a word that always looks the same. Only the choice that is left is measured, in bits.

"é" is one character, or two: "e" and an accent. Nobody sees which, so each such letter could hide a
bit. A writer, or a quoted file, keeps to one way, and one way hides nothing.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from itertools import chain, pairwise
from math import lgamma, log, log2
from typing import Final, NamedTuple

from remit.language.files import read_toml

MAX_HIDDEN_BITS: Final = 48  # six bytes

_LISTS: Final = read_toml("characters", "remit.gate")


def characters(name: str) -> str:
    """Return the ranges of one kind of characters, as they stand in a character class."""
    return "".join(_LISTS[name])


EMOJI: Final = re.compile(f"[{characters('emoji')}]")
LINKING, VIRAMAS, MONGOLIAN_WITH_FORMS, SPACELESS = map(
    characters, ("linking", "viramas", "mongolian_with_forms", "spaceless")
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
WORD_BREAK: Final = "\u200b"
_SPACELESS_RUN: Final = re.compile(f"[{SPACELESS}{WORD_BREAK}]++")
_VOWELS_BEFORE: Final = frozenset("เแโใไເແໂໃໄ")
_VOWELS_BEHIND: Final = frozenset("ะาำๅๆະາຳຽ")
_STACKS_NEXT: Final = frozenset("\u1039\u17d2")
_SYLLABLES_PER_WORD: Final = 2.5  # as counted below: a final consonant is one of its own
_LONGEST_WORD: Final = 4  # as counted below; one word in thirty has more
_USUALLY_UNKNOWN: Final = 0.35  # at most, of neighbours whose text has each of them once
_MAX_WORD_CHARACTERS: Final = 24
_SPECIAL_SPACE: Final = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_GAP: Final = re.compile("[ \xa0\u1680\u2000-\u200a\u202f\u205f\u3000]++")
_MAX_GAP_FORMS: Final = 8  # that are told apart
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
    chosen = sum(bits_of_choice(max(places[choice], used[choice]), used[choice]) for choice in used)
    return chosen + (_word_break_bits(text) if WORD_BREAK in text else 0)


def _tokens(text: str) -> Iterator[_Token]:
    wanted = [choice for choice in _CHOICES if choice.used.search(text)]
    for word in _WORD.findall(text) if wanted else ():
        visible = _HIDDEN.sub("", word)
        for choice in wanted:
            places, used = len(choice.places.findall(visible)), len(choice.used.findall(word))
            yield _Token(choice.used.pattern, visible, word, places, used)
    if _SPECIAL_SPACE.search(text):
        yield from _gaps(text)
    for run in _SPACELESS_RUN.finditer(text) if WORD_BREAK in text else ():
        yield from _edges(text, run)
    if "\ufe0f" in text or "\ufe0e" in text:
        for base, form in _EMOJI_OR_KEY.findall(text):
            # Wide ones are pictures without a selector.
            width = unicodedata.east_asian_width(base)
            for selector in "\ufe0e\ufe0f":
                yield _Token(width + selector, base, form, 1, int(form == selector))


def _gaps(text: str) -> Iterator[_Token]:
    """Yield the gaps of a text, once for each special form that is used in it.

    Gaps are compared with their like: a French colon always has a special space before it, and a
    unit behind its number may.
    """
    found = list(_GAP.finditer(text))
    special = sorted({gap[0] for gap in found if _SPECIAL_SPACE.search(gap[0])})
    shown, rest = special[:_MAX_GAP_FORMS], frozenset(special[_MAX_GAP_FORMS:])
    for gap in found:
        before, after = text[gap.start() - 1 : gap.start()], text[gap.end() : gap.end() + 8]
        kinds = f"{_kind(before)} {_kind(after[:1])} "
        around = text[max(gap.start() - 4, 0) : gap.start()] + after[:4]
        visible = after.partition(" ")[0] if before.isdigit() else around
        for form in shown:
            yield _Token(f"{kinds}{form}", visible, gap[0], 1, int(gap[0] == form))
        if rest:
            yield _Token(kinds, visible, gap[0], 1, int(gap[0] in rest))


def _kind(char: str) -> str:
    if char.isalpha():
        return "letter"
    return "digit" if char.isdigit() else char


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
    between all words repeats some, always whole, and leaves no long piece. So hidden is where a
    break stands between two pieces that stand nowhere else, whether a word that stands alone is
    elsewhere a part, and which words are not parted. These overlap: the most counts.
    """
    runs = [run.split(WORD_BREAK) for run in _SPACELESS_RUN.findall(text)]
    runs = [[piece for piece in run if piece] for run in runs]
    pieces = Counter(piece for run in runs for piece in run)
    pairs = [pair for run in runs for pair in pairwise(run)]
    unknown = [pair for pair in pairs if {pieces[each] for each in pair} == {1}]
    placed = sum(
        log2(max((_syllables("".join(pair)) - 1) / _SYLLABLES_PER_WORD, 1)) for pair in unknown
    )
    parts = sum(
        bits_of_choice(pieces[word] + count, count)
        for word, count in _parts(pieces, set(pairs)).items()
    )
    too_many = len(unknown) - _USUALLY_UNKNOWN * len(pairs)
    return max(placed + parts, too_many, bits_of_sequence(list(_partings(runs, pieces))))


def _partings(runs: list[list[str]], pieces: Counter[str]) -> Iterator[bool]:
    """Yield each end of a word within a run: whether a break is there.

    A long piece that stands nowhere else has as many words as its length says.
    """
    for run in runs:
        for index, piece in enumerate(run):
            if index:
                yield True
            more = _syllables(piece) - _LONGEST_WORD if pieces[piece] == 1 else 0
            yield from [False] * round(max(more, 0) / _SYLLABLES_PER_WORD)


def _parts(pieces: Counter[str], pairs: Collection[tuple[str, str]]) -> Counter[str]:
    """Count how often a repeated piece is the beginning or the end of a longer one.

    A longer one that is never parted is a word, and counts once however often it stands there.
    """
    parts: Counter[str] = Counter()
    for piece, count in pieces.items():
        for length in range(1, min(len(piece), _MAX_WORD_CHARACTERS + 1)):
            for at, word in ((length, piece[:length]), (len(piece) - length, piece[-length:])):
                if pieces[word] > 1 and may_part_words(piece[at - 1], piece[at]):
                    parts[word] += count if (piece[:at], piece[at:]) in pairs else 1
    return parts


def may_part_words(before: str, after: str) -> bool:
    """Whether a word can end between two characters: not before a mark or a vowel that follows."""
    if before in _VOWELS_BEFORE or before in _STACKS_NEXT or after in _VOWELS_BEHIND:
        return False
    return not unicodedata.category(after or " ").startswith("M")


def _syllables(piece: str) -> int:
    return 1 + sum(may_part_words(before, after) for before, after in pairwise(piece))


def bits_of_choice(places: int, used: int) -> float:
    """Return the logarithm of the number of ways to choose the used ones among the places."""
    return (lgamma(places + 1) - lgamma(used + 1) - lgamma(places - used + 1)) / log(2)


def bits_of_sequence(chosen: list[bool]) -> float:
    """Return what it takes to say which were chosen, or else where the choice changes."""
    count, second = len(chosen), sum(chosen)
    if second in (0, count):
        return 0.0
    changes = sum(one != other for one, other in pairwise(chosen))
    return min(bits_of_choice(count, second), bits_of_choice(count - 1, changes) + 1)


# Two spellings of a letter ------------------------------------------------------------------------

_WRITTEN_WORD: Final = re.compile(r"\S++")
_SECOND_JAMO: Final = frozenset(map(chr, (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))))
# Where Unicode has letters of parts, and such that double others; Hangul has rules of its own.
_WITH_PARTS: Final = (
    *(range(0xC0, 0x3100), range(0xF900, 0xFB50), range(0x10500, 0x12000)),
    *(range(0x16100, 0x16E00), range(0x1D100, 0x1D200), range(0x2F800, 0x2FA1E)),
)
_HANGUL: Final = re.compile("[\uac00-\ud7a3]")


class _Spellings(NamedTuple):
    """Of each letter with two spellings: the two."""

    parts: dict[str, str]  # "é" -> "e" and its accent
    whole: dict[str, str]  # the other way round
    double: dict[str, str]  # a character -> the one that it doubles: the sign of Kelvin -> K
    doubled: frozenset[str]
    seconds: frozenset[str]  # a text without any of them spells all in the usual way


@cache
def _spellings() -> _Spellings:
    parts: dict[str, str] = {}
    double: dict[str, str] = {}
    for code in chain.from_iterable(_WITH_PARTS):
        found = unicodedata.decomposition(chr(code))
        if found and not found.startswith("<"):
            apart = "".join(chr(int(each, 16)) for each in found.split())
            (parts if len(apart) > 1 else double)[chr(code)] = apart
    whole = {apart: char for char, apart in parts.items()}
    excluded = {char for char in parts if unicodedata.normalize("NFC", char) != char}
    seconds = _SECOND_JAMO.union(double, excluded, (apart[1] for apart in whole))
    return _Spellings(parts, whole, double, frozenset(double.values()), seconds)


def spelling_bits(text: str) -> float:
    """Return how many bits a text can hide in the choice between two spellings of its letters."""
    if text.isascii() or _spellings().seconds.isdisjoint(text):
        return 0.0
    words = [(word, *_read(word)) for word in _WRITTEN_WORD.findall(text)]
    written: dict[str, set[str]] = defaultdict(set)
    for word, visible, _ in words:
        written[visible].add(word)
    chosen: dict[str, list[bool]] = defaultdict(list)
    seen: set[str] = set()
    for word, visible, choices in words:
        if word not in seen or len(written[visible]) > 1:
            for kind, is_second in choices:
                chosen[kind].append(is_second)
        seen.add(word)
    return sum(map(bits_of_sequence, chosen.values()))


def first_choice(text: str) -> int:
    """Return where the first unusual spelling may be."""
    seconds = _spellings().seconds
    return next((index for index, char in enumerate(text) if char in seconds), 0)


def _read(word: str) -> tuple[str, list[tuple[str, bool]]]:
    """Return how a word looks, and each choice in it: its kind, and which spelling was taken."""
    known, shown, choices = _spellings(), list[str](), list[tuple[str, bool]]()
    for char in word:
        joined = _joined(shown[-1], char) if shown and char in known.seconds else None
        if joined is not None:
            if shown[-1] in known.parts:  # the second of several marks
                marks = "".join(sorted(unicodedata.normalize("NFD", joined)[1:]))
                choices.append((f"order {marks}", shown[-1] + char not in known.whole))
            shown[-1] = joined
            choices.append((_kind_of_second(char), True))
            continue
        choices += ((kind, False) for kind in _kinds_of_whole(char))
        if char in known.double:
            choices.append((_kind_of_second(known.double[char]), True))
        elif char in known.doubled:
            choices.append((_kind_of_second(char), False))
        shown.append(known.double.get(char, char))
    return "".join(shown), choices


@lru_cache(maxsize=4096)
def _joined(letter: str, second: str) -> str | None:
    """Return the one character for a letter and what follows it; None if there is none."""
    found = _spellings().whole.get(letter + second)
    if found is None and len(composed := unicodedata.normalize("NFC", letter + second)) == 1:
        found = composed
    return found


def _kinds_of_whole(char: str) -> Iterator[str]:
    """Yield a kind for each mark of a character that could have been written behind it."""
    if _HANGUL.match(char):
        yield _kind_of_second("\u1161")
    parts = _spellings().parts
    while char in parts:
        char, second = parts[char][0], parts[char][1]
        yield _kind_of_second(second)


def _kind_of_second(char: str) -> str:
    if char in _SECOND_JAMO:
        return "Hangul"
    return "ideograph" if "\u3400" <= char <= "\u9fff" or char > "\uffff" else char
