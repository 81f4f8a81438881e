"""Cues from commands: command line, API and MCP."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from remit.errors import BadInput
from remit.model.codec import Json, JsonMap
from remit.model.deferred import PRD, document_of
from remit.model.delivery import Delivery
from remit.model.plan import WorkItem
from remit.model.specialist import PROJECT
from remit.model.task import Cue, Priority, Source, SourceKind

MOST_FILES: Final = 1_000
_LONGEST: Final = 500  # characters of a path


def cue(  # noqa: PLR0913 - all that a person may say at once
    text: str,
    *,
    ref: str,
    work: Sequence[str] = (),
    channel: str = "dashboard",
    recipient: str | None = None,
    content: str | None = None,
    scheduled_for: datetime | None = None,
    priority: Priority | None = None,
) -> Cue:
    """Make a cue of what the owner typed; by default the result goes to the dashboard."""
    title, _, _ = text.strip().partition("\n")
    return Cue(
        source=Source(SourceKind.MANUAL, ref),
        title=title if len(title) <= 120 else title[:117] + "...",  # noqa: PLR2004
        text=text.strip(),
        work=tuple(WorkItem(line) for line in work),
        delivery=(Delivery(channel, recipient, content),),
        scheduled_for=scheduled_for,
        priority=priority,
    )


def on_project(
    cue: Cue,
    name: str,
    known: Collection[str],
    files: Sequence[str] = (),
    *,
    prd: str | bool = False,
) -> Cue:
    """Return the cue as work on a project; `files` are those likely to change.

    `prd` names the requirements document it is a story of, as `docs/prd.md#US-1`. An unknown
    project, or a cue that is no project work, is refused with a sentence.
    """
    if name not in known:
        there = ", ".join(sorted(known)) or "none; name one as [projects.NAME] in settings.toml"
        raise BadInput(f"There is no project {name!r:.60}; there is {there}.", field="project")
    if cue.delivery and all(each.content is not None for each in cue.delivery):
        sentence = "A text that is sent as it is, is no work on a project; leave out the one or"
        raise BadInput(f"{sentence} the other.", field="project")
    context: JsonMap = dict(cue.context)
    if named := list[Json](_paths(files)):
        context["files"] = named
    if prd is not False:
        context[PRD] = prd if prd is True else _document(prd)
    return replace(cue, assigned_agent=f"{PROJECT}{name}", context=context)


def _document(said: str) -> str:
    if not document_of(said) or len(said) > _LONGEST:
        sentence = f"{said!r:.80} names no requirements document; say one as docs/prd.md#US-1."
        raise BadInput(sentence, field="prd")
    return said.strip()


def _paths(files: Sequence[str]) -> list[str]:
    """Return each path once; paths are relative to the project."""
    found = list(dict.fromkeys(each.strip() for each in files if each.strip()))
    if len(found) > MOST_FILES:
        sentence = f"{len(found):,} files are named; {MOST_FILES:,} are read."
        raise BadInput(sentence, field="files")
    for path in found:
        if len(path) > _LONGEST or path.startswith(("/", "~")) or ".." in path.split("/"):
            sentence = f"{path!r:.80} is no path inside a project; say it as src/app.py."
            raise BadInput(sentence, field="files")
    return found
