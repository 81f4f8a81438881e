"""What Remit says to the owner about a message, in the language of that message."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import ClassVar, Final, cast

from remit.language.files import read_toml
from remit.language.order_words import language_of
from remit.language.tokens import tokenize
from remit.model.task import Task
from remit.model.veto import VetoCue, VetoKind, veto_sentence

DEFAULT_LANGUAGE: Final = "en"
AUTO_LANGUAGE: Final = "auto"
TRANSLATED: Final = ("de", "es")
_CARD: Final = (DEFAULT_LANGUAGE, *TRANSLATED)
_PLACE: Final = re.compile(r"\{\d\}")
_NAMED_PLACE: Final = re.compile(r"\{[a-z]")
_NUMBERED: Final = re.compile(r"[1-9]\d?: (?=\D)")  # one of several questions
_DAYS: Final = "Mon|Tue|Wed|Thu|Fri|Sat|Sun"
_MONTHS: Final = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_DATE: Final = re.compile(
    rf"\A(?:{_DAYS}) (?:\d{{1,2}} (?:{_MONTHS})|\d{{4}}-\d\d-\d\d)(?: \d{{4}})? \d\d:\d\d"
)
_DATE_NAME: Final = re.compile(rf"\b(?:{_DAYS}|{_MONTHS})\b")
_LONGEST_LIST: Final = 80  # characters
_LETTER: Final = re.compile(r"[^\W\d_]")
_ENDS: Final = re.compile(r"(?<=[.?!]) ")
_MOST_TOGETHER: Final = 4  # sentences that one translation covers
_MOST_TOLD_BY: Final = 2_000  # characters that tell the language


class LanguagePreference:
    """The language that the owner set for pages and messages; empty: none is set."""

    chosen: ClassVar[str] = ""


def prefer_language(chosen: str) -> None:
    """Write to the owner in this language from now on; `auto`: in the one of each message."""
    LanguagePreference.chosen = "" if chosen == AUTO_LANGUAGE else chosen


def message_language(text: str) -> str:
    """Return the language for answers to a message: the owner's choice, or that of the message."""
    return LanguagePreference.chosen or _language_of_message(text)


def task_language(task: Task | None) -> str:
    """Return the language for sentences about a task: that of the message it came from."""
    return message_language(task.request.text if task and task.request else "")


@lru_cache(maxsize=256)
def _language_of_message(text: str) -> str:
    """Return the language of a message; English if Remit does not read its own."""
    letters = text.strip()
    found = language_of(tokenize(text[:_MOST_TOLD_BY])) if len(letters) > 1 else None
    return found or DEFAULT_LANGUAGE


@cache
def sentences(language: str) -> dict[str, str]:
    """Return the sentences of a card in a language, by their names."""
    return {name: row[_CARD.index(language)] for name, row in _rows()["card"].items()}


def in_language(sentence: str, language: str, *, pages: bool = False) -> str:
    """Return a sentence of Remit in another language; in English, if it is not known there.

    With `pages`, the words of the pages are known as well, such as the label of a field.
    """
    exact, patterns = _translations(language)
    own = page_sentences(language).get(sentence) if pages else None
    if found := own or exact.get(sentence):
        return found
    for words, translation in patterns:
        places = _places(words, sentence)
        if places is not None:
            translated = (
                _list_in_language(each, language, pages=pages)
                or in_language(each, language, pages=pages)
                for each in places
            )
            return translation.format(*translated)
    return _DATE.sub(lambda date: _date_in_language(date[0], language), sentence, count=1)


def _list_in_language(text: str, language: str, *, pages: bool) -> str | None:
    """Return a list such as "Monday, Wednesday and Friday"; None if it has a word of somebody."""
    *first, last = text.split(" and ")
    if len(first) != 1 or len(text) > _LONGEST_LIST:
        return None
    items = [*first[0].split(", "), last]
    translated = [in_language(each, language, pages=pages) for each in items]
    same = (each for each, was in zip(translated, items, strict=True) if each == was)
    if any(_LETTER.search(each) for each in same):
        return None
    return f"{', '.join(translated[:-1])} {sentences(language)['and']} {translated[-1]}"


def _date_in_language(date: str, language: str) -> str:
    """Return a date such as "Thu 19 Nov 09:00" with its day and month in another language."""
    names = page_sentences(language)
    return _DATE_NAME.sub(lambda found: names.get(found[0], found[0]), date)


def time_away_in_language(away: str, language: str) -> str:
    """Return how far away a moment is, such as "in 15 h", in another language."""
    for template in ("in {0}", "{0} ago"):
        if places := _places(template.split("{0}"), away):
            return page_sentences(language).get(template, template).format(*places)
    return in_language(away, language, pages=True)


def _places(words: Sequence[str], sentence: str) -> list[str] | None:
    """Return what stands between these words, each place as short as can be; None: it differs.

    It takes one pass: a text of many words would keep a regular expression busy for seconds.
    """
    first, *others, last = words
    if not (sentence.startswith(first) and sentence.endswith(last)):
        return None
    found, at, end = [], len(first), len(sentence) - len(last)
    for word in others:
        there = sentence.find(word, at + 1, end)
        if there < 0:
            return None
        found.append(sentence[at:there])
        at = there + len(word)
    return [*found, sentence[at:end]] if at < end else None


def text_in_language(text: str, language: str, *, pages: bool = False) -> str:
    """Return a text of several sentences or lines; what is not Remit's own stays as it is."""
    if language == DEFAULT_LANGUAGE:
        return text
    return _translate_text(text, language, pages=pages)


@lru_cache(maxsize=1024)
def _translate_text(text: str, language: str, *, pages: bool) -> str:
    lines = text.split("\n")
    return "\n".join(" ".join(_in_turn(each, language, pages=pages)) for each in lines)


def _in_turn(line: str, language: str, *, pages: bool) -> Iterator[str]:
    """Yield the sentences of a line; some belong together, as a question and its reason do."""
    left = _ENDS.split(line)
    while left:
        number = _NUMBERED.match(left[0])
        left[0] = left[0][number.end() :] if number else left[0]
        several = " ".join(left[:_MOST_TOGETHER])
        known = _several_sentences(language, pages=pages)
        together = any(_has_all(words, several) for words in known)
        for taken in range(1, min(len(left), _MOST_TOGETHER if together else 1) + 1):
            sentence = " ".join(left[:taken])
            translated = in_language(sentence, language, pages=pages)
            if translated != sentence:
                break
        else:
            taken, translated = 1, left[0]
        yield (number[0] if number else "") + translated
        left = left[taken:]


def _has_all(words: Sequence[str], text: str) -> bool:
    return text.startswith(words[0]) and all(word in text for word in words)


@cache
def _several_sentences(language: str, *, pages: bool) -> list[list[str]]:
    """Return the words around the places of what is translated as several sentences at once."""
    exact, patterns = _translations(language)
    whole = (*exact, *(page_sentences(language) if pages else ()))
    every = [*([each] for each in whole), *(words for words, _ in patterns)]
    return [words for words in every if _ENDS.search("{0}".join(words))]


@cache
def _translations(language: str) -> tuple[dict[str, str], list[tuple[list[str], str]]]:
    """Return the translations of whole English sentences, and of the words around places."""
    if language == DEFAULT_LANGUAGE:
        return {}, []
    of_cards = {each: sentences(language)[name] for name, each in sentences("en").items()}
    every = {
        english: translation
        for english, translation in (_in_column(_rows(), language) | of_cards).items()
        if not _NAMED_PLACE.search(english)
    }
    exact = {
        english: translation for english, translation in every.items() if not _PLACE.search(english)
    }
    places = [
        (_PLACE.split(each), translation)
        for each, translation in every.items()
        if each not in exact
    ]
    return exact, places


@cache
def page_sentences(language: str) -> dict[str, str]:
    """Return the sentences of the pages in another language, by their English form."""
    return _table("pages", language)


@cache
def notice_sentences(language: str) -> dict[str, str]:
    """Return what notices say in another language, by its English form; its places are open."""
    return _table("notices", language)


def notice_sentence(template: str, language: str, *values: object) -> str:
    """Return a sentence of a notice with its values."""
    return notice_sentences(language).get(template, template).format(*values)


def _table(name: str, language: str) -> dict[str, str]:
    return {} if language == DEFAULT_LANGUAGE else _in_column(_rows()[name], language)


def _rows() -> Mapping[str, Mapping[str, Sequence[str]]]:
    return cast("Mapping[str, Mapping[str, Sequence[str]]]", read_toml("sentences"))


def _in_column(rows: Mapping[str, object], language: str) -> dict[str, str]:
    """Return one language of the sentences, by their English form."""
    column = TRANSLATED.index(language)
    return {english: row[column] for english, row in rows.items() if isinstance(row, list)}


def held_sentence(cues: Sequence[VetoCue], language: str) -> str:
    """Return why others get nothing without the owner's approval, in a language."""
    say = sentences(language)
    kinds = {kind: f"veto_{kind.value}" for kind in VetoKind}
    own = {kind: say[name] for kind, name in kinds.items() if name in say}
    return veto_sentence(cues, own, say["veto_says"], say["and"])
