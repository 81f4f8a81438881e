"""Compares the names of a request with those of the text: people and places."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from remit.language.files import words_in_all
from remit.language.tokens import fold
from remit.verify.written.language import likely_language
from remit.verify.written.vocabulary import word_set
from remit.verify.written.wording import ORDER_VERBS, STOP, sentences, stem, words

_TOKEN: Final = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*\.?|[^\w\s]")
_CAMEL: Final = re.compile(r"[a-z][A-Z]")  # a service's name, used for sending
_FULL: Final = 2  # words of a full name


class PersonName(Struct, frozen=True):
    words: tuple[str, ...]  # as written
    before: str  # the word before it, folded
    first: bool  # whether it begins a sentence
    last_line: bool = False

    @property
    def said(self) -> str:
        return " ".join(self.words)

    @property
    def titled(self) -> bool:
        return self.before in words_in_all("requests", "titles")


def compare(
    request: str, text: str, known: Sequence[str], *, composes: bool
) -> tuple[list[str], list[str]]:
    """Return names that replace those of the request; and those that are missing."""
    if not composes:
        return [], []
    asked = list(_names(request, capitals=likely_language(request) in ("en", "es")))
    there = frozenset(stem(each) for each in words(text))
    missing = [each for each in asked if not any(stem(word) in there for word in each.words)]
    if not missing:
        return [], []
    told = frozenset(stem(each) for part in known for each in words(part))
    strange = [
        each
        for each in _names(text, capitals=True)
        if not any(stem(word) in told for word in each.words)
    ]
    capitals = likely_language(text) in ("en", "es")
    for each in missing:
        other = next((one for one in strange if _replaces(each, one, capitals=capitals)), None)
        if other:
            return [f"the request names “{each.said}”, the text “{other.said}”"], []
    return [], [f"“{each.said}” of the request does not occur" for each in missing]


def _replaces(asked: PersonName, told: PersonName, *, capitals: bool) -> bool:
    """Whether a new name is where the request's should be."""
    greeted = told.before in words_in_all("requests", "salutations") or told.titled
    if greeted and (asked.titled or asked.before not in word_set("small.place")):
        return True
    if not capitals or told.last_line:  # the signature does not matter here
        return False
    full = len(asked.words) >= _FULL and len(told.words) >= _FULL
    return full or (asked.before in word_set("small.place") and told.before == asked.before)


def _names(text: str, *, capitals: bool) -> Iterator[PersonName]:
    """Yield capitalised words that name someone.

    In a language with capitalised nouns, only those after a title or the ordering verb.
    """
    told = sentences(text)
    for number, sentence in enumerate(told):
        tokens = [each for each in _TOKEN.findall(sentence) if each.strip(".")]
        at = 0
        while at < len(tokens):
            run = _run(tokens, at)
            if run:
                before = fold(tokens[at - 1]).strip(".") if at else ""
                last = number == len(told) - 1 and number > 0
                name = PersonName(tuple(run), before, at == 0, last)
                if _counts(name, capitals=capitals):
                    yield name
            at += max(1, len(run))


def _run(tokens: Sequence[str], at: int) -> list[str]:
    run: list[str] = []
    for token in tokens[at:]:
        if not token[0].isupper() or not _is_name(token):
            break
        run.append(token.rstrip("."))
        if token.endswith("."):
            break
    return run


def _is_name(token: str) -> bool:
    bare = fold(token).strip(".")
    common = STOP | words_in_all("requests", "titles") | words_in_all("requests", "weekdays")
    greeting = words_in_all("requests", "salutations") | ORDER_VERBS
    measured = words_in_all("requests", "measures")
    return len(bare) > 1 and not _CAMEL.search(token) and bare not in common | greeting | measured


def _counts(name: PersonName, *, capitals: bool) -> bool:
    if name.titled or name.before in ORDER_VERBS:
        return True
    if not capitals:
        return False
    return not name.first or len(name.words) >= _FULL
