"""A text that says the same again, or says that it is about to say something, is padded."""

import re
from typing import Final

from remit.language.tokens import fold_text
from remit.model.contract import Criterion, Evidence, Finding, Result
from remit.model.task import Task
from remit.verify.written.vocabulary import pattern
from remit.verify.written.wording import STOP, sentences, stem, words

_LEAST_WORDS: Final = 5  # a shorter sentence may well come twice
_ALIKE: Final = 0.8
_MOST_REPEATED: Final = 0.25  # of the words
_MOST_FILLER: Final = 0.4  # of the sentences
_LEAST_FILLERS: Final = 3


class PaddingCheck:
    """No pattern. A refrain is no padding; a quarter of the text said twice is."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task, criterion
        told = [each for each in sentences(evidence.text) if len(words(each)) >= _LEAST_WORDS]
        again = repeated(told)
        total = sum(len(words(each)) for each in sentences(evidence.text)) or 1
        share = sum(len(words(each)) for each in again) / total
        if len(again) > 1 and share > _MOST_REPEATED:
            why = f"{share:.0%} of it is said again, like “{_short(again[0])}”"
            return Finding("no-padding", Result.FAIL, why)
        empty = [each for each in told if pattern("padding.filler").search(fold_text(each))]
        if len(empty) >= _LEAST_FILLERS and len(empty) > _MOST_FILLER * len(told):
            why = f"{len(empty)} of {len(told)} sentences are filler, like “{_short(empty[0])}”"
            return Finding("no-padding", Result.FAIL, why)
        return Finding("no-padding", Result.PASS)


def repeated(told: list[str]) -> list[str]:
    """The sentences that say no more than one before them did."""
    kept: list[frozenset[str]] = []
    again: list[str] = []
    for each in told:
        meant = _meant(each)
        if any(_alike(meant, earlier) for earlier in kept):
            again.append(each)
        else:
            kept.append(meant)
    return again


def _meant(sentence: str) -> frozenset[str]:
    """The words that carry a sentence, figures too: two prices in one wording are two facts."""
    bare = pattern("padding.filler").sub(" ", fold_text(sentence))
    figures = re.findall(r"\d[\d.,:]*", bare)
    return frozenset({*(stem(word) for word in words(bare) if word not in STOP), *figures})


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other:
        return False
    return len(one & other) >= _ALIKE * max(len(one), 1) and len(one) <= len(other) + 1


def _short(sentence: str) -> str:
    return sentence if len(sentence) <= 60 else f"{sentence[:57]}…"  # noqa: PLR2004 - one line
