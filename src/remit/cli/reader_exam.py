"""Compares how well a model reads messages with the closed patterns: the exam and its score."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar, cast

from remit.brain.choose import FilledForm, ModelRole
from remit.brain.models import ModelBrain
from remit.cli import clock, codes, out
from remit.errors import BadInput, StepFailed
from remit.intake.exam import ExamMark, ExamScore, public_messages, score
from remit.intake.exam.qualify import ExamFile, QualifiedReader
from remit.intake.model_reader import ModelReader
from remit.intake.plain_reader import PlainReader
from remit.model.codec import JsonMap
from remit.model.reply import Prompt
from remit.ports import Brain
from remit.settings import Settings
from remit.wiring.readers import brain_of, second_brain

T = TypeVar("T")
_LANGUAGES: Final = ("en", "de", "es")
_NO_MODEL: Final = (
    "No model is set up that could read messages; `remit brain` says what is missing."
)


def take(settings: Settings, *, as_json: bool) -> int:
    """Let the model take the exam, and store the result."""

    async def examine(reader: ModelReader, name: str) -> int:
        qualified = QualifiedReader(reader, name, ExamFile(settings.home))
        try:
            result = await qualified.take_exam(clock.now())
        except StepFailed as error:
            out.say(str(error))
            return codes.FAILED
        if as_json:
            out.emit({"model": name, "qualifies": result.qualifies, "detail": result.sentence})
        else:
            out.line(result.sentence)
        return codes.DONE if result.qualifies else codes.FAILED

    brains = [brain_of(settings), second_brain(settings)]
    results = [asyncio.run(_with_model(each, examine)) for each in brains]
    exit_codes = [code for code in results if code is not None]
    if not exit_codes:
        raise BadInput(_NO_MODEL)
    return max(exit_codes)


def show_scores(settings: Settings, *, as_json: bool) -> int:
    """Score the closed patterns, and the model if there is one, on the labelled messages."""
    scores = {"without a model": asyncio.run(score(PlainReader(), public_messages()))}

    async def read_all(reader: ModelReader, name: str) -> tuple[str, ExamScore]:
        return name, await score(reader, public_messages())

    if found := asyncio.run(_with_model(brain_of(settings), read_all)):
        scores[found[0]] = found[1]
    counts = {
        name: {
            language: {mark.value: found.count(mark, language=language) for mark in ExamMark}
            for language in _LANGUAGES
        }
        for name, found in scores.items()
    }
    rows = [
        (name, language, *map(str, marks.values()))
        for name, languages in counts.items()
        for language, marks in languages.items()
    ]
    content = {"messages": len(public_messages()), "readers": counts}
    heads = ("reader", "language", *ExamMark)
    return out.listing(as_json, cast("JsonMap", content), [heads, *rows])


async def _with_model(
    brain: Brain | None, do: Callable[[ModelReader, str], Awaitable[T]]
) -> T | None:
    """Run something with the reading model alone; None if there is none."""
    if not isinstance(brain, ModelBrain):
        return None
    mind = brain.as_role(ModelRole.EXTRACT).alone()

    async def fill(prompt: str, form: type[object], /) -> object | None:
        filled = await mind.fill(Prompt(prompt), form, session="exam")
        return filled.form if isinstance(filled, FilledForm) else None

    try:
        return await do(ModelReader(fill), mind.label) if mind.ready else None  # type: ignore[arg-type]
    finally:
        await brain.close()
