"""A2A JSON: the agent card, and a task with its deliverable as its only artifact."""

from collections.abc import Collection
from typing import Final

from remit import __version__
from remit.model.codec import JsonMap, stamp
from remit.model.proof import label
from remit.model.status import Reason, Status
from remit.peer.agent_operations import AgentTaskView

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
        "metadata": {"taint": view.task.taint.value, "notVerified": label(view.task) or None},
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
