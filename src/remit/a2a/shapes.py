"""A2A JSON: the agent card, and a task with its deliverable as its only artifact."""

from collections.abc import Collection
from typing import Final

from remit import __version__
from remit.model.codec import JsonMap, stamp
from remit.model.proof import label
from remit.model.status import Reason, Status
from remit.model.task import Task
from remit.peer.agent_operations import AgentTaskView

VERSION: Final = "1.0"
ENDPOINT: Final = "/a2a"
MODES: Final = ("text/plain", "text/markdown")
_STATE: Final = "TASK_STATE_"
_STATES: Final = {
    Status.NEW: "SUBMITTED",
    Status.READY: "SUBMITTED",
    Status.RUNNING: "WORKING",
    Status.VERIFYING: "WORKING",
    Status.DELIVERING: "WORKING",
    Status.NEEDS_REVIEW: "INPUT_REQUIRED",
    Status.PAUSED: "WORKING",
    Status.COMPLETED: "COMPLETED",
    Status.FAILED: "FAILED",
    Status.CANCELLED: "CANCELED",
}
_UNBEGUN: Final = (Status.NEW, Status.READY)


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
        "capabilities": {
            "streaming": True,
            "pushNotifications": False,
            "extendedAgentCard": False,
        },
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


def task(seen: AgentTaskView, *, artifacts: bool = True) -> JsonMap:
    found = seen.task
    told: JsonMap = {
        "id": found.id,
        "contextId": found.session_id,
        "status": status(seen),
        "metadata": {"title": found.title, "taint": found.taint.value},
    }
    made = artifact(seen)
    return {**told, "artifacts": [made]} if artifacts and made is not None else told


def status(seen: AgentTaskView) -> JsonMap:
    at = stamp(seen.task.last_updated)
    said: JsonMap = {
        "messageId": f"{seen.task.id}@{at}",
        "taskId": seen.task.id,
        "contextId": seen.task.session_id,
        "role": "ROLE_AGENT",
        "parts": [{"text": seen.sentence}],
    }
    return {"state": _STATE + state(seen), "timestamp": at, "message": said}


def artifact(seen: AgentTaskView) -> "JsonMap | None":
    """Return the deliverable, with the taint of the task."""
    if seen.deliverable is None:
        return None
    return {
        "artifactId": "deliverable",
        "name": seen.task.title,
        "parts": [{"text": seen.deliverable, "mediaType": "text/markdown"}],
        "metadata": {"taint": seen.task.taint.value, "notVerified": label(seen.task) or None},
    }


def state(seen: AgentTaskView) -> str:
    found = seen.task
    if seen.waits:
        return "AUTH_REQUIRED" if found.reason is Reason.AUTH else "INPUT_REQUIRED"
    return "SUBMITTED" if _is_paused_unbegun(found) else _STATES[found.status]


def rests(seen: AgentTaskView) -> bool:
    """Whether nothing more happens by itself."""
    return seen.task.ended or seen.waits


def statuses(said: str) -> Collection[Status]:
    """Return our statuses for an A2A state; none if it is unknown."""
    name = said.removeprefix(_STATE)
    found = {ours for ours, theirs in _STATES.items() if theirs == name}
    if name in ("INPUT_REQUIRED", "AUTH_REQUIRED"):
        found |= {Status.NEEDS_REVIEW, Status.NEW}
    return sorted(found | {Status.PAUSED} if name == "SUBMITTED" else found)


def is_called(seen: AgentTaskView, said: str) -> bool:
    return _STATE + state(seen) == said


def _is_paused_unbegun(found: Task) -> bool:
    return found.status is Status.PAUSED and found.resume_to in _UNBEGUN
