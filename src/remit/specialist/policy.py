"""What a specialist may do without asking: read and edit in its own folder. Pure."""

import posixpath
from collections.abc import Sequence
from typing import Final

from remit.model.codec import Json, text_of
from remit.model.reply import Policy, ToolCall

READS: Final = frozenset({"read", "search", "think"})
EDITS: Final = frozenset({"edit", "delete", "move"})


def rule(call: ToolCall, workspace: str) -> Policy:
    """Rule on a call: allowed in the folder; a command or another place is asked."""
    if call.tool not in READS | EDITS:
        return Policy.ASK
    places = _places(call.args.get("locations"))
    if not places and call.tool not in EDITS:
        # Without a path such a call changes nothing, and its folder is the workspace.
        return Policy.ALLOW if _names_no_path(call) else Policy.ASK
    inside = bool(places) and all(is_inside(place, workspace) for place in places)
    return Policy.ALLOW if inside else Policy.ASK


def exact(call: ToolCall) -> str:
    """Return exactly what a call would do, for the owner and the specialist."""
    command = call.args.get("command")
    only = isinstance(command, str) and len(call.args) == 1
    return str(command) if only else text_of(call.args)


def is_inside(path: str, workspace: str) -> bool:
    """Whether a path, by its text alone, stays in the folder and out of its .git."""
    place = path if path.startswith("/") else f"{workspace}/{path}"
    names = place.split("/")
    if ".." in names or "\0" in path or any(name.casefold() == ".git" for name in names):
        return False
    root = posixpath.normpath(workspace)
    return posixpath.normpath(place) == root or posixpath.normpath(place).startswith(f"{root}/")


def _places(found: Json) -> Sequence[str]:
    return [str(each) for each in found] if isinstance(found, list) else ()


def _names_no_path(call: ToolCall) -> bool:
    return call.tool == "think" or not any(
        isinstance(value, str) and (value.startswith(("/", "~")) or ".." in value)
        for value in _values(call.args.get("input"))
    )


def _values(found: Json) -> Sequence[Json]:
    if isinstance(found, dict):
        return [inner for value in found.values() for inner in _values(value)]
    if isinstance(found, list):
        return [inner for value in found for inner in _values(value)]
    return [found]
