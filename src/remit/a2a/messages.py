"""A2A messages: parameters that come in, and the card and tasks that go out.

Required fields are checked strictly; unknown fields are ignored.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from msgspec import Struct

from remit import __version__
from remit.errors import BadInput
from remit.model.codec import Json, JsonMap, moment, stamp, text_of
from remit.model.proof import unverified_label
from remit.model.status import Reason, Status
from remit.peer.agent_operations import AgentTaskView
from remit.peer.rpc import BAD_PARAMS, NO_REQUEST, RpcError, RpcMessage

VERSION: Final = "1.0"
ENDPOINT: Final = "/a2a"
MODES: Final = ("text/plain", "text/markdown")
_STATE: Final = "TASK_STATE_"
_STATES: Final = {
    **dict.fromkeys(Status, "WORKING"),
    Status.NEW: "SUBMITTED",
    Status.READY: "SUBMITTED",
    Status.NEEDS_REVIEW: "INPUT_REQUIRED",
    Status.COMPLETED: "COMPLETED",
    Status.FAILED: "FAILED",
    Status.CANCELLED: "CANCELED",
}


def card(url: str) -> JsonMap:
    """Return the agent card: who we are, what we can do, and how to connect."""
    return {
        "name": "Remit",
        "description": "Takes work you entrust to it, has it done, proves it, and hands it over."
        " What only its owner can decide, he is asked.",
        "version": __version__,
        "supportedInterfaces": [
            {"url": url + ENDPOINT, "protocolBinding": "JSONRPC", "protocolVersion": VERSION}
        ],
        "capabilities": {"streaming": True, "pushNotifications": False, "extendedAgentCard": False},
        "securitySchemes": {"token": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
        "securityRequirements": [{"schemes": {"token": {"list": []}}}],
        "defaultInputModes": ["text/plain", "application/json"],
        "defaultOutputModes": list(MODES),
        "skills": [
            {
                "id": "entrust",
                "name": "Entrust a task",
                "description": "Work in your own words. The artifact is what was delivered.",
                "tags": ["tasks", "research", "writing", "reminders"],
                "examples": ["Compare three quiet parks near the station, in five lines."],
            }
        ],
    }


def task(view: AgentTaskView, *, artifacts: bool = True) -> JsonMap:
    found = view.task
    shape: JsonMap = {
        "id": found.id,
        "contextId": found.session_id,
        "status": status(view),
        "metadata": {"title": found.title, "taint": found.taint.value},
    }
    made = artifact(view)
    return {**shape, "artifacts": [made]} if artifacts and made is not None else shape


def status(view: AgentTaskView) -> JsonMap:
    at = stamp(view.task.last_updated)
    shape: JsonMap = {
        "messageId": f"{view.task.id}@{at}",
        "taskId": view.task.id,
        "contextId": view.task.session_id,
        "role": "ROLE_AGENT",
        "parts": [{"text": view.sentence}],
    }
    return {"state": _STATE + state(view), "timestamp": at, "message": shape}


def artifact(view: AgentTaskView) -> "JsonMap | None":
    """Return the deliverable, with the taint of the task."""
    if view.deliverable is None:
        return None
    return {
        "artifactId": "deliverable",
        "name": view.task.title,
        "parts": [{"text": view.deliverable, "mediaType": "text/markdown"}],
        "metadata": {
            "taint": view.task.taint.value,
            "notVerified": unverified_label(view.task) or None,
        },
    }


def state(view: AgentTaskView) -> str:
    found = view.task
    if view.waits:
        return "AUTH_REQUIRED" if found.reason is Reason.AUTH else "INPUT_REQUIRED"
    unbegun = found.status is Status.PAUSED and found.resume_to in (Status.NEW, Status.READY)
    return "SUBMITTED" if unbegun else _STATES[found.status]


def rests(view: AgentTaskView) -> bool:
    """Whether nothing more happens by itself."""
    return view.task.ended or view.waits


def statuses(state: str) -> Collection[Status]:
    """Return our statuses for an A2A state; none if it is unknown."""
    name = state.removeprefix(_STATE)
    found = {ours for ours, theirs in _STATES.items() if theirs == name}
    if name in ("INPUT_REQUIRED", "AUTH_REQUIRED"):
        found |= {Status.NEEDS_REVIEW, Status.NEW}
    return sorted(found | {Status.PAUSED} if name == "SUBMITTED" else found)


def is_called(view: AgentTaskView, wanted: str) -> bool:
    return _STATE + state(view) == wanted


# What comes in ------------------------------------------------------------------------------------

NO_TASK: Final = -32001
NO_CANCEL: Final = -32002
NO_PUSH: Final = -32003
NOT_DONE: Final = -32004
NO_CONTENT: Final = -32005
NO_VERSION: Final = -32009
MOST_PARTS: Final = 100
MOST_PAGE: Final = 100


class A2aMessage(Struct, frozen=True, kw_only=True):
    """A message: its text, what it refers to, and whether the caller waits for the result."""

    text: str
    key: str
    task: str | None = None
    context: str | None = None
    about: tuple[str, ...] = ()
    waits: bool = True


class TaskListRequest(Struct, frozen=True, kw_only=True):
    context: str | None = None
    state: str | None = None
    since: datetime | None = None
    before: str | None = None
    size: int = 50
    artifacts: bool = False


def check(message: RpcMessage, version: str | None) -> None:
    """Refuse notifications and unsupported versions; no version means an outdated one."""
    if not message.asks:
        raise RpcError(NO_REQUEST, "A request has an id; nothing here is a notification.")
    if (version or "0.3").partition(".")[0] != "1":
        sentence = f"A2A-Version is {version or 'missing'!r:.40}; 1.0 is spoken here."
        raise RpcError(NO_VERSION, sentence)


def sent(params: JsonMap) -> A2aMessage:
    message, options = _map(params, "message"), _map(params, "configuration", default={})
    if options.get("taskPushNotificationConfig"):
        raise no_push()
    modes = options.get("acceptedOutputModes")
    if isinstance(modes, list) and modes and not {*MODES, "*/*", "text/*"} & {*map(str, modes)}:
        raise RpcError(NO_CONTENT, f"What is delivered is {' or '.join(MODES)}.")
    about = message.get("referenceTaskIds")
    return A2aMessage(
        text=_words(message),
        key=text_of_field(message, "messageId"),
        task=_maybe(message, "taskId"),
        context=_maybe(message, "contextId"),
        about=tuple(map(str, about))[:10] if isinstance(about, list) else (),
        waits=options.get("returnImmediately") is not True,
    )


def parse_list_request(params: JsonMap) -> TaskListRequest:
    size, since = params.get("pageSize") or 50, _maybe(params, "statusTimestampAfter")
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= MOST_PAGE:
        raise RpcError(BAD_PARAMS, f"pageSize is a whole number from 1 to {MOST_PAGE}.")
    state = _maybe(params, "status")
    try:
        at = moment(since) if since else None
    except BadInput as bad:
        raise RpcError(BAD_PARAMS, f"statusTimestampAfter: {bad}") from None
    return TaskListRequest(
        context=_maybe(params, "contextId"),
        state=None if state == "TASK_STATE_UNSPECIFIED" else state,
        since=at,
        before=_maybe(params, "pageToken"),
        size=size,
        artifacts=params.get("includeArtifacts") is True,
    )


def no_push() -> RpcError:
    return RpcError(
        NO_PUSH, "Nobody is called back from here; subscribe to the task, or ask for it."
    )


def _words(message: JsonMap) -> str:
    """Return all text parts, in order; nothing is fetched, and no files are accepted."""
    parts = message.get("parts")
    if not isinstance(parts, list) or not 1 <= len(parts) <= MOST_PARTS:
        raise RpcError(BAD_PARAMS, f"message.parts has 1 to {MOST_PARTS} parts.")
    found = [_part(part) for part in parts]
    if not "".join(found).strip():
        raise RpcError(BAD_PARAMS, "The message is empty; say what is to be done.")
    return "\n\n".join(found)


def _part(part: Json) -> str:
    if isinstance(part, dict) and isinstance(part.get("text"), str):
        return str(part["text"])
    if isinstance(part, dict) and "data" in part:
        return text_of(part["data"])
    raise RpcError(NO_CONTENT, "Parts may hold text or data; files and addresses are not taken in.")


def _map(params: JsonMap, name: str, default: "JsonMap | None" = None) -> JsonMap:
    found = params.get(name, default)
    if not isinstance(found, dict):
        raise RpcError(BAD_PARAMS, f"{name} must be an object.")
    return found


def text_of_field(params: JsonMap, name: str) -> str:
    found = params.get(name)
    if not isinstance(found, str) or not found:
        raise RpcError(BAD_PARAMS, f"{name} must be a text.")
    return found


def _maybe(params: JsonMap, name: str) -> str | None:
    found = params.get(name)
    if found is not None and not isinstance(found, str):
        raise RpcError(BAD_PARAMS, f"{name} must be a text.")
    return found or None
