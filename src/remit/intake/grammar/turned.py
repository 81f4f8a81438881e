"""Where somebody takes a word back: "no wait, make that", "nein, lieber", "perdón, digo"."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from remit.intake.grammar.sentences import Said
from remit.intake.lexicon.turns import TURNS, Turns
from remit.language.tokens import Kind

_MARKS: Final = frozenset(",.…;:-–—()!")
_TWICE: Final = 2  # weak words that are as good as a strong one: "no, wait"


@dataclass(frozen=True, slots=True)
class Turn:
    """From token `start` to `end`; `near` ones take back only what stands right before them."""

    said: Said
    start: int
    end: int
    near: bool
    late: bool = False  # it may take back a time said earlier, if it ends the sentence

    def stop(self, at: int) -> int:
        """Where what belongs to the turn ends behind the word that counts: "Friday instead"."""
        after = TURNS[self.said.language.code].after.at(self.said.keys, at)
        end = after[1] if after else at
        closes = end < len(self.said.keys) and self.said.keys[end] == ")"
        return end + 1 if closes and self.start and self.said.keys[self.start - 1] == "(" else end


def find_turns(said: Said) -> Iterator[Turn]:
    """Find the places at which somebody may correct himself, in order."""
    turns = TURNS[said.language.code]
    at = said.marks
    while at < len(said.tokens):
        turn = _turn(said, turns, at)
        if turn:
            yield turn
        at = turn.end if turn else at + 1


def _turn(said: Said, turns: Turns, at: int) -> Turn | None:
    begun = at
    strong, weak, at = _words(said, turns, at)
    if not (strong or weak) or at >= len(said.tokens):
        return None
    if begun and said.keys[begun - 1] in turns.leads:
        return None
    no = not strong and weak < _TWICE and said.language.nots.at(said.keys, begun)
    if no and said.tokens[at - 1].kind is not Kind.MARK:
        return None  # "el martes, no el jueves" denies the second
    apart = begun == said.marks or said.keys[begun - 1] in _MARKS
    far = strong and (apart or strong + weak > 1 or _takes_back(said, begun))
    late = apart and turns.late.at(said.keys, begun) is not None
    return Turn(said, begun, at, not (far or weak >= _TWICE), late)


def _words(said: Said, turns: Turns, at: int) -> tuple[int, int, int]:
    """Count the strong and the weak words of a turn, and say where it ends."""
    begun, strong, weak = at, 0, 0
    while at < len(said.tokens):
        if found := turns.strong.at(said.keys, at):
            strong += 1
        elif found := turns.weak.at(said.keys, at):
            weak += 1
        elif at == begun or said.tokens[at].kind is not Kind.MARK or said.keys[at] not in _MARKS:
            break
        at = found[1] if found else at + 1
    return strong, weak, at


def _takes_back(said: Said, at: int) -> bool:
    """Whether a turn of several words begins with a "no": it needs no comma before it."""
    turns = TURNS[said.language.code]
    found = turns.strong.at(said.keys, at)
    return found is not None and found[1] - at > 1 and bool(turns.weak.at(said.keys, at))
