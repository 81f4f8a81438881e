"""Asks a model for lessons from finished tasks, parses its answer strictly, screens every lesson.

The model sees only tasks in which nobody but the owner wrote anything; of the others it gets the
number. No lesson may be about recipients, permissions or tools; the screen may only become
stricter. What passes is still only a proposal.
"""

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, cast

from msgspec import Struct

from remit.errors import BadInput
from remit.language.files import read_toml
from remit.model.codec import JsonMap, from_json
from remit.model.likeness import Lesson, LessonFile
from remit.model.task import Priority, Taint, Task
from remit.reflect.harvest import ReflectionLine
from remit.reflect.statistics import MAX_NAMED_TASKS, ReflectedTask

MAX_SUGGESTIONS: Final = 3  # suggestions that are looked at
MIN_NAMED_TASKS: Final = 3  # tasks that must speak for one
_MAX_TASKS: Final = 60
_MAX_TEXT_CHARACTERS: Final = 200
_MAX_ANSWER_CHARACTERS: Final = 20_000  # characters of an answer
_ARRAY: Final = re.compile(r"\[.*\]", re.DOTALL)
_WORD: Final = re.compile(r"[A-Za-z]{3,30}(?:[ -][A-Za-z]{3,30}){0,2}")

RULES: Final = f"""\
You look back on finished work and say what could be done better, for good.
You may suggest at most {MAX_SUGGESTIONS} things, each of one of two kinds:
{{"kind": "guideline", "text": "one short sentence on how texts are written", "tasks": ["task-…"]}}
{{"kind": "rule", "word": "a word of the titles", "priority": "low|med|high|critical",
 "tasks": ["task-…"]}}
A guideline is about wording, form and care alone. It never speaks of people, addresses, sending,
permissions, tools, or how anything is approved: such a suggestion is thrown away.
Suggest only what at least {MIN_NAMED_TASKS} of the tasks below speak for, and name them.
Answer with a JSON array and nothing else; [] if there is nothing to learn."""


class SuggestedLesson(Struct, frozen=True):
    kind: str
    tasks: tuple[str, ...]
    text: str = ""
    word: str = ""
    priority: str = ""


def suggestion_prompt(tasks: Sequence[ReflectedTask], guidelines: str) -> str:
    """Return the prompt for the model, beside its rules."""
    mine = [each for each in tasks if is_mine(each.task)][-_MAX_TASKS:]
    others = sum(not is_mine(each.task) for each in tasks)
    lines = [_line(each.line, each.task) for each in mine]
    return "\n".join(
        [
            f"{len(tasks)} tasks ended; {others} of them read what is not the owner's, and are",
            "not shown.",
            "",
            *lines,
            "",
            "The guidelines so far:",
            guidelines or "(none)",
        ]
    )


def is_mine(task: Task) -> bool:
    return task.taint is Taint.OWNER


def read(answer: str, tasks: Sequence[ReflectedTask]) -> tuple[list[Lesson], int]:
    """Return the lessons in an answer, and how many suggestions were invalid."""
    mine = {each.line.task: each.task for each in tasks if is_mine(each.task)}
    suggested = list(_suggestions(answer))
    found = [each for one in suggested[:MAX_SUGGESTIONS] if (each := _lesson(one, mine))]
    return found, len(suggested) - len(found)


def _line(line: ReflectionLine, task: Task) -> str:
    shown: JsonMap = {
        "id": line.task,
        "title": _short(task.title),
        "came_to": _short(task.result_summary or ""),
        "ended": line.status,
        "asked_the_owner": len(line.held),
        "sent_back": line.sent_back,
        "verified": line.verified,
        "late_seconds": line.late,
        "priority": line.priority,
        "priority_by": line.rule,
    }
    return json.dumps(shown, ensure_ascii=False)


def _short(text: str) -> str:
    return " ".join(text.split())[:_MAX_TEXT_CHARACTERS]


def _suggestions(answer: str) -> Iterable[SuggestedLesson | None]:
    found = _ARRAY.search(answer[:_MAX_ANSWER_CHARACTERS])
    try:
        parsed = json.loads(found[0]) if found else []
    except (ValueError, RecursionError):
        return
    for each in parsed if isinstance(parsed, list) else ():
        try:
            yield from_json(SuggestedLesson, each)
        except BadInput:
            yield None


def _lesson(suggested: SuggestedLesson | None, mine: Mapping[str, Task]) -> Lesson | None:
    if suggested is None:
        return None
    named = tuple(dict.fromkeys(each for each in suggested.tasks if each in mine))[:MAX_NAMED_TASKS]
    if len(named) < MIN_NAMED_TASKS:
        return None
    why = f"A model suggests it from {len(named)} tasks."
    if suggested.kind == "guideline":
        return Lesson(LessonFile.GUIDELINES, " ".join(suggested.text.split()), why, named)
    if suggested.kind == "rule" and suggested.priority in set(Priority):
        return _rule(suggested, why, [mine[each] for each in named])
    return None


def _rule(suggested: SuggestedLesson, why: str, tasks: Collection[Task]) -> Lesson | None:
    """Return a rule about a word in the titles of the named tasks."""
    word = " ".join(suggested.word.split())
    if not _WORD.fullmatch(word):
        return None
    pattern = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
    if not all(pattern.search(task.title) for task in tasks):
        return None
    when = rf"objective matches /\b{word.casefold()}\b/i"
    name = f"learned-about-{word.casefold().replace(' ', '-')}"
    ids = tuple(str(task.id) for task in tasks)
    return Lesson(LessonFile.RULES, name, why, ids, when, Priority(suggested.priority))


MAX_CHARACTERS: Final = 200  # characters of a guideline
_FIELDS: Final = ("objective", "series", "sender_domain", "source", "weekday", "time")
# One or more words of a person, in the form of our rules.
_WHEN: Final = re.compile(
    r"objective matches /\\b[\w -]{3,60}\\b/i"
    r"|series is ser-[0-9A-Za-z]{26}"
    r"|sender_domain is (?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}"
    r"|source is [a-z]{3,20}"
    r"|weekday in \[?[a-z, -]{3,40}\]?"
    r"|time in \d\d:\d\d-\d\d:\d\d"
)
_PLAIN: Final = re.compile(r"[\w .,;:'’\"“”()%€$/&–-]+")
_SCREEN_WORD: Final = re.compile(r"[^\W\d_]+")
_LONG_NUMBER: Final = re.compile(r"\d[\d .,-]{4,}\d")

_REFUSED: Final = {
    stem: why
    for why, stems in cast(
        "dict[str, str]", read_toml("lesson_words", __package__)["refused"]
    ).items()
    for stem in stems.split()
}
# Words that begin like a refused one and mean something else.
_HARMLESS: Final = frozenset({"sentence", "sentences", "fragment", "fragments"})
_MAX_WORDS: Final = 40
_SHORT: Final = 3


def objection(lesson: Lesson, names: Collection[str] = ()) -> str | None:
    """Return why a lesson may not be proposed; None if it may.

    `names` may not be mentioned: people, channels and tools.
    """
    if lesson.file is LessonFile.RULES:
        return _of_rule(lesson)
    return of_words(lesson.text, names)


def of_words(text: str, names: Collection[str] = ()) -> str | None:
    """Return why a guideline may not be proposed; None if it may."""
    if not text.strip() or len(text) > MAX_CHARACTERS or len(text.split()) > _MAX_WORDS:
        return f"a guideline is one line of at most {MAX_CHARACTERS} characters"
    if text.lstrip().startswith("#") or not _PLAIN.fullmatch(text):
        return "a guideline is plain words"
    if _LONG_NUMBER.search(text):
        return "a guideline holds no long number"
    folded = unicodedata.normalize("NFKC", text).casefold()
    for name in names:
        if _says(folded, name):
            return "it names somebody or something of this Remit"
    about = next(
        (why for word in _SCREEN_WORD.findall(folded) if (why := _refusal_of_word(word))), None
    )
    return f"it speaks of {about}" if about else None


def _of_rule(lesson: Lesson) -> str | None:
    if lesson.priority is None or not lesson.when:
        return "a rule has a condition and a priority"
    field = lesson.when.partition(" ")[0]
    if field not in _FIELDS:
        return f"a rule that is learned does not look at {field!r:.40}"
    if not _WHEN.fullmatch(lesson.when):
        return "a rule that is learned has one plain condition"
    return None


def _refusal_of_word(word: str) -> str | None:
    if word in _HARMLESS:
        return None
    # A short stem must be the whole word: `api` does not refuse `rapid`, `run` not `trunk`.
    whole = _REFUSED.get(word) or _REFUSED.get(word.removesuffix("s"))
    long = ((stem, why) for stem, why in _REFUSED.items() if len(stem) > _SHORT)
    return whole or next((why for stem, why in long if word.startswith(stem)), None)


def _says(folded: str, name: str) -> bool:
    plain = unicodedata.normalize("NFKC", name).casefold().strip()
    return len(plain) > 1 and re.search(rf"(?<!\w){re.escape(plain)}(?!\w)", folded) is not None
