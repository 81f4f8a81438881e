"""`remit rules history` and `remit rules revert`: what lessons changed, and how to undo it."""

from typing import Annotated

from remit import settings as house_settings
from remit.cli import codes, out, remit_client, words
from remit.cli.out import AsJson, Piece, StyledText, flag
from remit.model.likeness import FileVersion, standing
from remit.operations.lesson_json import history as told
from remit.operations.settings_arguments import Revert
from remit.store import reflections
from remit.store.read_only import glance


def history(*, json: AsJson = False) -> int:
    """List what was changed in your rules and guidelines by lessons you took, the newest first."""
    settings = house_settings.load()
    found: tuple[FileVersion, ...] = ()
    if settings.database.exists():
        with glance(settings.database) as tx:
            found = reflections.versions(tx)
    if json:
        out.emit(told(found))
        return codes.DONE
    if not found:
        out.say("Nothing was changed yet; `remit reflect now` looks for something to learn.")
        return codes.DONE
    heads: list[Piece] = [
        StyledText(head, "dim") for head in ("NO", "WHEN", "FILE", "HOLDS", "WHY")
    ]
    holds = {each.no for each in standing(found)}
    out.table([heads, *(_row(each, holds) for each in reversed(found))])
    return codes.DONE


def revert(
    change: Annotated[
        int | None, flag("The number of a change; else the latest that holds.")
    ] = None,
    /,
    *,
    force: Annotated[bool, flag("Even if the file was changed since; that text is kept.")] = False,
    json: AsJson = False,
) -> int:
    """Take a change back: the file says again what it said before it."""
    with remit_client.opened(house_settings.load()) as way:
        made = way.ask(Revert(change, force))
    if json:
        out.emit(made)
        return codes.DONE
    out.line(StyledText(f"{made['file']}: ", "dim"), StyledText(f"{made['why']}.", "green"))
    out.say(
        StyledText("It counts from the next task on, and is not proposed again for 30 days.", "dim")
    )
    return codes.DONE


def _row(each: FileVersion, holds: set[int]) -> list[Piece]:
    mark = StyledText("yes", "green") if each.no in holds else StyledText("no", "dim")
    when = StyledText(words.local(each.made_at), "dim")
    return [str(each.no), when, each.file.value, mark, each.why]
