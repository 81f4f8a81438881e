"""A model reads messages only after it has passed a short exam.

The exam has forty labelled messages. With one dangerous reading, or fewer right ones than the
closed patterns have, the model is not used. The result is stored beside the settings, for this
model and this exam.
"""

import json
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol, cast
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import asdict

from remit.contacts import ContactBook
from remit.errors import StepFailed
from remit.intake.exam import ExamMark, LabelledMessage, public_messages, score
from remit.intake.extraction import Extraction
from remit.intake.hear import RequestReader, TurnReader
from remit.intake.plain_reader import PlainReader
from remit.model.codec import JsonMap
from remit.model.conversation import TalkContext, TurnOrder
from remit.system.files import write_atomic

FILE: Final = "reader-exam.json"
VERSION: Final = 2  # raised when the exam or the form changes
MESSAGES: Final = 40
FIRST_MESSAGES: Final = 5


class ExaminedReader(RequestReader, TurnReader, Protocol):
    """A reader that reports when its model did not answer."""

    async def read_by_model(
        self, text: str, now: datetime, zone: ZoneInfo, book: ContactBook
    ) -> Extraction | None: ...


class ExamResult(Struct, frozen=True):
    """The result of one model, and of the closed patterns on the same messages."""

    model: str
    right: int
    asked: int
    wrong: int
    dangerous: int
    without_model: int  # right without a model
    taken_at: str
    version: int = VERSION

    @property
    def qualifies(self) -> bool:
        return not self.dangerous and self.right >= self.without_model

    @property
    def sentence(self) -> str:
        leads = "reads your messages" if self.qualifies else "does not read your messages"
        return (
            f"{self.model} {leads}: of {MESSAGES} in the exam it read {self.right} right, asked "
            f"about {self.asked}, read {self.wrong} wrong and {self.dangerous} dangerously; "
            f"without a model {self.without_model} are right."
        )


def exam_messages() -> tuple[LabelledMessage, ...]:
    """Return the exam: messages of every language and sort, always the same."""
    every = public_messages()
    step = len(every) / MESSAGES
    return tuple(every[int(n * step)] for n in range(MESSAGES))


async def take_exam(reader: ExaminedReader, model: str, now: datetime) -> ExamResult:
    """Let a model read the messages and mark its answers; nothing is stored."""
    strict = _StrictReader(reader, model)
    marked = await score(strict, exam_messages())
    if strict.silent > MESSAGES // 2:
        sentence = f"{model} did not answer {strict.silent} of {MESSAGES} messages of the exam."
        raise StepFailed(sentence)
    plain = await score(PlainReader(), exam_messages())
    return ExamResult(
        model=model,
        right=marked.count(ExamMark.RIGHT),
        asked=marked.count(ExamMark.ASKED),
        wrong=marked.count(ExamMark.WRONG),
        dangerous=marked.count(ExamMark.DANGEROUS),
        without_model=plain.count(ExamMark.RIGHT),
        taken_at=now.isoformat(timespec="seconds"),
    )


class _StrictReader:
    """Reads with the model only; no answer counts as reading nothing.

    A model that answers none of the first messages is not asked about the rest.
    """

    def __init__(self, reader: ExaminedReader, model: str) -> None:
        self._reader = reader
        self._model = model
        self._asked = 0
        self.silent = 0

    async def read(self, text: str, now: datetime, zone: ZoneInfo, book: ContactBook) -> Extraction:
        read = await self._reader.read_by_model(text, now, zone, book)
        self._asked += 1
        self.silent += read is None
        if self.silent == self._asked == FIRST_MESSAGES:
            first = f"the first {FIRST_MESSAGES} messages"
            raise StepFailed(f"{self._model} did not answer any of {first} of the exam.")
        return read or Extraction((), (), None, (), ())


class ExamFile:
    """The stored results, by model."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE

    @property
    def any_qualifies(self) -> bool:
        """Whether any model passed this exam."""
        results = (self.result(model) for model in self._read_results())
        return any(each is not None and each.qualifies for each in results)

    def result(self, model: str) -> ExamResult | None:
        """Return a model's result in this version of the exam; None if there is none."""
        kept = self._read_results().get(model)
        if not isinstance(kept, dict) or kept.get("version") != VERSION:
            return None
        try:
            return ExamResult(**kept)  # type: ignore[arg-type]
        except TypeError:
            return None

    def keep(self, result: ExamResult) -> None:
        kept = self._read_results() | {result.model: cast("JsonMap", asdict(result))}
        write_atomic(self._path, json.dumps(kept, indent=2, ensure_ascii=False) + "\n")

    def _read_results(self) -> JsonMap:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return cast("JsonMap", found) if isinstance(found, dict) else {}


class QualifiedReader:
    """Lets a model read if it passed the exam; else the closed patterns read."""

    def __init__(
        self, reader: ExaminedReader, model: str, results: ExamFile, *, exempt: bool = False
    ) -> None:
        self._reader = reader
        self._exempt = exempt  # it is no model: the owner wrote down how messages are read
        self._plain = PlainReader()
        self.model = model
        self.results = results

    @property
    def leads(self) -> bool:
        result = self.results.result(self.model)
        return self._exempt or (result is not None and result.qualifies)

    @property
    def needs_exam(self) -> bool:
        return not self._exempt and self.results.result(self.model) is None

    async def read(self, text: str, now: datetime, zone: ZoneInfo, book: ContactBook) -> Extraction:
        reader: RequestReader = self._reader if self.leads else self._plain
        return await reader.read(text, now, zone, book)

    async def read_turn(
        self, text: str, now: datetime, zone: ZoneInfo, book: ContactBook, talk: TalkContext
    ) -> Extraction | TurnOrder:
        """Read a turn of a conversation with its context."""
        if not self.leads:
            return await self._plain.read(text, now, zone, book)
        return await self._reader.read_turn(text, now, zone, book, talk)

    async def take_exam(self, now: datetime) -> ExamResult:
        """Let the model take the exam again, and store the result."""
        result = await take_exam(self._reader, self.model, now)
        self.results.keep(result)
        return result
