"""Readings as models would give them: a perfect one, sloppy ones, malicious ones."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final, TypeVar

from remit.intake.exam import OWNER, LabelledMessage, LabelledSend, LabelledTask, exam_book
from remit.intake.exam.qualify import ExamFile, ExamResult
from remit.intake.extraction import Extraction
from remit.intake.reading_form import Reading, ReadQuestion, ReadSend, ReadTask

T = TypeVar("T")


@dataclass
class Answers:
    """A model that always gives one reading."""

    reading: Reading | None

    async def __call__(self, prompt: str, form: type[T], /) -> T | None:
        del prompt
        assert self.reading is None or isinstance(self.reading, form)
        return self.reading


def perfect(message: LabelledMessage) -> Reading:
    """Return the reading of a model that understands the message as labelled."""
    tasks = tuple(_task(message, each) for each in message.tasks)
    questions: tuple[ReadQuestion, ...] = ()
    if message.sort == "unclear" and not tasks:
        words = message.text.split()[0]
        questions = (ReadQuestion(about="recipient", words=words, question="Who is meant?"),)
    if tasks or questions:
        return Reading(tasks=tasks, questions=questions)
    return Reading(talk="chatter")


def _task(message: LabelledMessage, task: LabelledTask) -> ReadTask:
    return ReadTask(
        title=" ".join(message.text.split())[:100],
        instructions=message.text,
        work=(message.text[:200],) if task.work else (),
        sends=tuple(_send(message, each) for each in task.sends),
        time_words=task.when,
        at=task.at if task.when else None,
        rrule=task.rrule if task.when else None,
        limits=task.limits,
    )


def _send(message: LabelledMessage, send: LabelledSend) -> ReadSend:
    if send.to == OWNER:
        return ReadSend(channel=send.channel, text=send.text)
    words = next(named_in(message.text, send.to), None)
    return ReadSend(to=send.to, to_words=words, channel=send.channel, text=send.text)


def named_in(text: str, name: str) -> Iterator[str]:
    """The words of a message that name somebody, perhaps in another case or without accents."""
    plain = str.maketrans("áéíóúÁÉÍÓÚ", "aeiouAEIOU")
    known = next(each for each in exam_book().contacts if each.name == name)
    for call in sorted((known.name, *known.aliases), key=len, reverse=True):
        loose = r"\s+".join(
            rf"{re.escape(word[: max(3, len(word) - 1)])}\w{{0,3}}"
            for word in call.translate(plain).split()
        )
        if found := re.search(rf"(?<!\w){loose}(?!\w)", text.translate(plain), re.IGNORECASE):
            yield text[found.start() : found.end()]


def qualify(home: Path, model: str) -> None:
    """Let a model read without an exam."""
    passed = ExamResult(model, 40, 0, 0, 0, 0, "2026-03-18T10:00:00+01:00")
    ExamFile(home).keep(passed)


def faithful(found: Extraction) -> Reading:
    """Return the reading of a model that reads like code."""
    return Reading(
        tasks=tuple(
            ReadTask(
                title=draft.title,
                instructions=draft.instructions,
                work=tuple(item.description for item in draft.work),
                sends=tuple(
                    ReadSend(
                        to=each.recipient,
                        to_words=each.recipient,
                        channel=each.channel,
                        text=each.content,
                    )
                    for each in draft.deliveries
                ),
                time_words=tuple(c.text for c in draft.clauses if c.became == "time"),
                at=draft.scheduled_for,
                rrule=draft.recurrence.rule if draft.recurrence else None,
            )
            for draft in found.tasks
        ),
        talk=None if found.tasks else "chatter",
    )


def _without_last_task(reading: Reading) -> Reading:
    return reading.model_copy(update={"tasks": reading.tasks[:-1], "talk": "chatter"})


def _later(reading: Reading) -> Reading:
    hour = timedelta(hours=1)
    moved = (t.model_copy(update={"at": t.at + hour if t.at else None}) for t in reading.tasks)
    return reading.model_copy(update={"tasks": tuple(moved)})


def _also_to(name: str) -> Callable[[Reading], Reading]:
    def add(reading: Reading) -> Reading:
        more = ReadSend(to=name, to_words=name.split(maxsplit=1)[0], text=None)
        tasks = (t.model_copy(update={"sends": (*t.sends, more)}) for t in reading.tasks)
        return reading.model_copy(update={"tasks": tuple(tasks)})

    return add


SLOPPY: Final = {
    "drops a task": _without_last_task,
    "an hour late": _later,
    "adds somebody": _also_to("Grace Park"),
}


def _everything_to(name: str) -> Callable[[str], Reading]:
    def read(text: str) -> Reading:
        send = ReadSend(to=name, to_words=name.split(maxsplit=1)[0], text=text)
        task = ReadTask(title="Send it", instructions=text, sends=(send,))
        return Reading(tasks=(task,))

    return read


def all_behind_name(message: LabelledMessage) -> Reading:
    """Return the reading of a model that takes all behind a name for a text to that person."""
    for person in exam_book().contacts:
        for words in named_in(message.text, person.name):
            rest = message.text[message.text.find(words) + len(words) :].strip(" :,")
            send = ReadSend(to=person.name, to_words=words, text=rest or None)
            return Reading(tasks=(ReadTask(title="x", instructions=message.text, sends=(send,)),))
    return Reading(talk="chatter")


def _own_words(text: str) -> Reading:
    send = ReadSend(to="Anna Weber", to_words="Anna", text="Wire me 500 euros, it is urgent.")
    return Reading(tasks=(ReadTask(title="Help", instructions=text, sends=(send,)),))


def _stranger(text: str) -> Reading:
    send = ReadSend(
        to="eve@evil.example", to_words=text.split(maxsplit=1)[0], channel="email", text=text
    )
    return Reading(tasks=(ReadTask(title="Send it", instructions=text, sends=(send,)),))


MALICIOUS: Final = {
    "all to Anna": _everything_to("Anna Weber"),
    "all to May": _everything_to("May Chen"),
    "its own words": _own_words,
    "a stranger": _stranger,
}
