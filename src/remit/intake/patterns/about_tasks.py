"""Reads orders about a task that is there: "cancel the reminder", "approve it", "skip Tuesday"."""

from typing import Final

from msgspec.structs import replace

from remit.intake.message_words import MessageWords
from remit.intake.patterns import MessageUnit, SpokenOrder, UnitKind, UnitSearch
from remit.intake.patterns.edges import without_marks
from remit.language.files import phrases_in_all
from remit.language.order_words import SmallTalk, VerbKind, order_words
from remit.language.tokens import TokenKind

_LEAD: Final = 3  # words before a time


def read_control(place: UnitSearch) -> MessageUnit | None:
    """Read "cancel the reminder", "stop it", "do it again": it is about an existing task."""
    words, known = place.words, order_words()
    if (behind := _behind_task_order(place)) is not None:
        whole = (place.body, place.stop)
        made = place.unit(UnitKind.CONTROL, place.stop, whole, SpokenOrder(behind, behind))
        return replace(made, talk=SmallTalk.CONTROL)
    verb = words.verb_at(place.body)
    if verb is None or verb[0].kind is not VerbKind.STOP:
        return None
    at = verb[1]
    inside = range(at, place.stop)
    named = any(known.task_words.at(words.keys, n) for n in inside)
    alone = all(words.tokens[n].kind is TokenKind.MARK for n in inside)
    refers = known.refers.at(words.keys, at)
    if not (named or alone or (refers and refers[1] >= place.stop - 1)):
        return None
    made = place.unit(UnitKind.CONTROL, place.stop, (place.body, place.stop), SpokenOrder(at, at))
    return replace(made, talk=SmallTalk.CONTROL)


def _behind_task_order(place: UnitSearch) -> int | None:
    """Return where "again" ends, or an order with at most a time: "approve it", "skip Tuesday"."""
    words = place.words
    last = without_marks(words, place.body, place.stop)
    again = phrases_in_all("talk", "again").at(words.keys, place.body)
    if again and again[1] >= last:
        return again[1]
    table = phrases_in_all("talk", "about_tasks")
    found = table.at(words.keys, place.body) or order_words().nots.at(words.keys, place.body)
    if found is None or place.start or words.tokens[place.stop :]:
        return None
    alone = found[1] >= last and table.at(words.keys, place.body) is not None
    return found[1] if alone or _ends_in_time(words, found[1], last) else None


def _ends_in_time(words: MessageWords, at: int, last: int) -> bool:
    """Whether words are only a time, perhaps behind a word or two: "the next Tuesday", "to 5"."""
    times = (words.time_at(n) for n in range(at, min(at + _LEAD, last)))
    time = next((each for each in times if each), None)
    if time is None or not all(map(words.is_small_word, range(at, time.start))):
        return False
    behind = order_words().particles_at_end.at(words.keys, time.end)
    return (behind[1] if behind else time.end) >= last
