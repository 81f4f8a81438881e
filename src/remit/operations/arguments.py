"""The arguments of every operation: one Struct each, and where HTTP takes it.

A field that the address names in braces is part of the address; the others are the body. This
module loads nothing else of Remit's work, so that a command can ask a running Remit quickly.
"""

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, TypeAlias
from urllib.parse import quote

from msgspec import Meta, Struct, to_builtins

from remit.model.codec import JsonMap, moment, stamp
from remit.model.contract import ContractType, GeneratedFrom, Timing
from remit.model.conversation import MAX_TITLE, MAX_TURN
from remit.model.recurrence import Repeats
from remit.model.review import ReviewAnswer
from remit.model.task import Priority
from remit.operations.texts import (
    DATE_TIME,
    RULE_PATTERN,
    SAYS_SOMETHING,
    Attachments,
    ChannelWord,
    LongText,
    MaybeTime,
    SaidText,
    TaskIdText,
    TitleText,
    WatchTarget,
    any_value,
    either,
    no_value,
    none_of,
    values,
)

_BRACES: Final = re.compile(r"\{(\w+)\}")


class ArgumentPart(
    Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """An object inside the arguments. `together` is what its fields must be like together."""

    together: ClassVar[Mapping[str, object]] = {}


class Arguments(ArgumentPart, frozen=True):
    """`internal` names the fields that no program may send: pages and protocols set them."""

    address: ClassVar[str]
    internal: ClassVar[frozenset[str]] = frozenset()
    fills: ClassVar[Mapping[str, str]] = {}  # fields that the address calls otherwise
    max_bytes: ClassVar[int] = 1024 * 1024  # of the body
    kept: ClassVar[bool] = True  # its answer may be kept, and told again to who has the same key

    @classmethod
    def http_method(cls) -> str:
        return cls.address.partition(" ")[0]

    @classmethod
    def http_path(cls) -> str:
        return cls.address.partition(" ")[2]

    @classmethod
    def in_path(cls) -> dict[str, str]:
        """Return the names in the address, with the field that each of them fills."""
        return {name: cls.fills.get(name, name) for name in _BRACES.findall(cls.address)}

    def request(self) -> tuple[str, str, JsonMap]:
        """Return how to ask a running Remit for it: method, address and body."""
        body, path = to_builtins(self), self.http_path()
        for name, field in self.in_path().items():
            path = path.replace(f"{{{name}}}", quote(body.pop(field), safe=""))
        return self.http_method(), path, body


class IdArguments(Arguments, frozen=True):
    id: str


class TaskArguments(IdArguments, frozen=True):
    """About a task, which the caller must know of."""


class SeriesArguments(IdArguments, frozen=True):
    """About a series, as above."""


class ReviewArguments(IdArguments, frozen=True):
    """About a question to the owner."""


class NamedArguments(Arguments, frozen=True):
    name: str


# Tasks --------------------------------------------------------------------------------------------


WorkText: TypeAlias = Annotated[str, Meta(extra_json_schema={"pattern": r"\S"})]


class NewItem(ArgumentPart, frozen=True):
    description: WorkText


class NewDelivery(ArgumentPart, frozen=True):
    channel: Annotated[str, Meta(extra_json_schema={"maxLength": 100})]
    recipient: (
        Annotated[str, Meta(extra_json_schema={"maxLength": 500, "pattern": r"\S"})] | None
    ) = None
    content: SaidText | None = None


class NewCriterion(ArgumentPart, frozen=True):
    activity: str
    description: str
    pattern: str | None = None
    timing: Timing = Timing.IMMEDIATE


class NewContract(ArgumentPart, frozen=True):
    together = none_of(
        {"properties": {"type": {"const": "verifiable"}, "criteria": {"maxItems": 0}}}
    )

    type: ContractType
    criteria: Annotated[list[NewCriterion], Meta(max_length=100)]
    generated_from: GeneratedFrom = GeneratedFrom.USER
    generated_at: MaybeTime = None


class NewRepeats(ArgumentPart, frozen=True):
    """How often a task repeats: an RRULE, its time zone and the first time."""

    rule: Annotated[str, Meta(max_length=500, extra_json_schema={"pattern": RULE_PATTERN})]
    zone: Annotated[str, Meta(max_length=100)]
    first: Annotated[str, DATE_TIME]

    @classmethod
    def from_series(cls, repeats: Repeats | None) -> "NewRepeats | None":
        if repeats is None:
            return None
        return cls(repeats.rule, repeats.zone, stamp(repeats.first))

    def to_series(self) -> Repeats:
        return Repeats(self.rule, self.zone, moment(self.first))


class NewWatch(ArgumentPart, frozen=True):
    """Where each run looks first; if nothing changed since the last, it ends without a model.

    `target` is an address, `command:NAME`, `folder:/path` or `calendar:NAME`; `part` a pattern or
    a JSON pointer of what counts.
    """

    target: WatchTarget
    part: Annotated[str, Meta(max_length=500, extra_json_schema={"format": "regex"})] = ""


class NewTask(Arguments, frozen=True):
    """A new task: the owner's words as `text`, or a `title` with its other fields."""

    address = "POST /api/tasks"
    internal = frozenset({"session"})
    together = {
        **any_value("text", "title"),
        "dependentSchemas": {
            "repeats": {"if": no_value("repeats"), "else": no_value("scheduledFor")},
            "files": {"if": {"properties": {"files": {"maxItems": 0}}}, "else": values("project")},
            "prd": {"if": {"properties": {"prd": {"const": False}}}, "else": values("project")},
        },
    }

    text: SaidText | None = None
    title: TitleText | None = None
    instructions: LongText | None = None
    work: Annotated[list[WorkText | NewItem], Meta(max_length=200)] = []
    delivery: Annotated[list[NewDelivery], Meta(max_length=50)] | None = None
    scheduled_for: MaybeTime = None
    repeats: NewRepeats | None = None
    priority: Priority | None = None
    context: dict[str, object] = {}
    contract: NewContract | None = None
    project: Annotated[str, Meta(max_length=100)] | None = None
    files: Annotated[list[Annotated[str, Meta(max_length=500)]], Meta(max_length=1_000)] = []
    prd: bool | Annotated[str, Meta(max_length=500)] = False  # the document, as prd.md#US-1
    session: str | None = None  # the thread that an agent goes on with
    watch: NewWatch | None = None
    attachments: Attachments = {}


class NewMessage(Arguments, frozen=True):
    """A message of the owner. With `dryRun` the answer only says what it would become.

    With `conversationId` it is a turn there, and may also answer, stop or change something. If a
    model reads messages, the answer says `reading: true` at once; with `wait` it comes once they
    are read.
    """

    address = "POST /api/messages"
    together = none_of(
        values("scheduledFor", "repeats"),
        *(
            values("conversationId", each)
            for each in ("scheduledFor", "repeats", "priority", "watch")
        ),
    )

    text: Annotated[str, Meta(max_length=100_000, extra_json_schema=SAYS_SOMETHING)]
    scheduled_for: MaybeTime = None
    repeats: NewRepeats | None = None
    priority: Priority | None = None
    dry_run: bool = False
    wait: bool = False
    conversation_id: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    watch: NewWatch | None = None
    attachments: Attachments = {}


_CHANGES: Final = ("title", "instructions", "scheduledFor", "priority", "delivery")


class TaskChange(TaskArguments, frozen=True):
    """An action on a task, or changes to a task that has not begun."""

    address = "PATCH /api/tasks/{id}"
    together = {"if": no_value("action"), "then": any_value(*_CHANGES), "else": no_value(*_CHANGES)}

    action: Literal["pause", "resume", "cancel", "run"] | None = None
    title: TitleText | None = None
    instructions: LongText | None = None
    scheduled_for: MaybeTime = None
    priority: Priority | None = None
    delivery: Annotated[list[NewDelivery], Meta(max_length=50)] | None = None


class PauseTask(TaskArguments, frozen=True, tag_field="action", tag="pause"):
    address = TaskChange.address


class ResumeTask(TaskArguments, frozen=True, tag_field="action", tag="resume"):
    address = TaskChange.address


class CancelTask(TaskArguments, frozen=True, tag_field="action", tag="cancel"):
    address = TaskChange.address


class RunTask(TaskArguments, frozen=True, tag_field="action", tag="run"):
    address = TaskChange.address


class EditTask(TaskArguments, frozen=True):
    address = TaskChange.address

    title: str | None = None
    instructions: str | None = None
    scheduled_for: MaybeTime = None
    priority: Priority | None = None
    delivery: list[NewDelivery] | None = None


class DeleteTask(TaskArguments, frozen=True):
    address = "DELETE /api/tasks/{id}"


class UndoTask(TaskArguments, frozen=True):
    address = "POST /api/tasks/{id}/undo"


class SeeTask(TaskArguments, frozen=True):
    address = "POST /api/tasks/{id}/seen"


class VouchTask(TaskArguments, frozen=True):
    address = "POST /api/tasks/{id}/vouch"


class RestoreTask(TaskArguments, frozen=True):
    address = "POST /tasks/{id}/restore"


class RetryTask(TaskArguments, frozen=True):
    address = "POST /api/tasks/{id}/retry"
    internal = frozenset({"instructions"})

    instructions: str = ""


class Bulk(Arguments, frozen=True):
    """An action on many tasks: those with these ids, or all that match a filter line."""

    address = "POST /api/tasks/bulk"
    together = either("ids", "filter")

    action: Literal["run", "pause", "resume", "cancel", "retry", "delete"]
    ids: Annotated[list[TaskIdText], Meta(max_length=10_000)] | None = None
    filter: Annotated[str, Meta(max_length=2_000)] | None = None
    dry_run: bool = False


# Questions and conversations ----------------------------------------------------------------------


class NewDecision(ReviewArguments, frozen=True):
    address = "POST /api/reviews/{id}/decision"
    internal = frozenset({"grace"})

    answer: ReviewAnswer
    text: Annotated[str, Meta(max_length=100_000)] | None = None
    always: bool = False
    grace: bool = False  # a declined text can be taken up again for some seconds


class ReaddressReview(ReviewArguments, frozen=True):
    """Where a text under review goes instead; without `to`, to the owner."""

    address = "POST /api/reviews/{id}/recipient"

    channel: ChannelWord
    to: Annotated[str, Meta(min_length=1, max_length=500)] | None = None
    text: LongText | None = None  # the owner's own, if it was changed


class UndoDecision(ReviewArguments, frozen=True):
    address = "POST /api/reviews/{id}/undo"


class SeeResults(Arguments, frozen=True):
    """The ended tasks that the owner has looked at; without ids, all that wait to be seen."""

    address = "POST /api/inbox/seen"

    ids: Annotated[list[TaskIdText], Meta(max_length=10_000)] | None = None


class Postponement(ReviewArguments, frozen=True):
    """Until when a question is put off: a time, or a number of hours from now."""

    address = "POST /api/reviews/{id}/later"
    together = either("until", "hours")

    until: MaybeTime = None
    hours: Annotated[int, Meta(ge=1, le=2160)] | None = None


class NewConversation(Arguments, frozen=True):
    """A new conversation. Without a title it is named after its first turn."""

    address = "POST /api/conversations"

    title: Annotated[str, Meta(max_length=MAX_TITLE)] = ""


class NewTitle(IdArguments, frozen=True):
    address = "PATCH /api/conversations/{id}"

    title: Annotated[
        str, Meta(min_length=1, max_length=MAX_TITLE, extra_json_schema=SAYS_SOMETHING)
    ]


class RemoveConversation(IdArguments, frozen=True):
    address = "DELETE /api/conversations/{id}"


class NewTurn(IdArguments, frozen=True):
    """A turn of the owner; `about` is the task that it is about."""

    address = "POST /api/conversations/{id}/turns"
    internal = frozenset({"patience"})

    text: Annotated[str, Meta(min_length=1, max_length=MAX_TURN, extra_json_schema=SAYS_SOMETHING)]
    about: TaskIdText | None = None
    patience: float = 3.0  # seconds that an answer is waited for; one by a model may take longer
    attachments: Attachments = {}


class TalkAboutTask(TaskArguments, frozen=True):
    address = "POST /api/tasks/{id}/conversation"
