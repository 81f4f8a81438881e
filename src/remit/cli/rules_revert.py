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
    """What lessons changed, newest first."""
    with glance(house_settings.load().database) as tx:
        found = reflections.versions(tx)
    holds = {each.no for each in standing(found)}
    rows = [_row(each, holds) for each in reversed(found)]
    empty = "Nothing was changed yet; `remit reflect now` looks for something to learn."
    return out.listing(json, told(found), rows, ("NO", "WHEN", "FILE", "HOLDS", "WHY"), empty)


def revert(
    change: Annotated[
        int | None, flag("The number of a change; else the latest that holds.")
    ] = None,
    /,
    *,
    force: Annotated[bool, flag("Even if the file was changed since; that text is kept.")] = False,
    json: AsJson = False,
) -> int:
    """Take a change of the rules back."""
    made = remit_client.ask(Revert(change, force))
    if json:
        out.emit(made)
        return codes.DONE
    out.line(StyledText(f"{made['file']}: ", "dim"), StyledText(f"{made['why']}.", "green"))
    out.hint("It counts from the next task on, and is not proposed again for 30 days.")
    return codes.DONE


def _row(each: FileVersion, holds: set[int]) -> list[Piece]:
    mark = StyledText("yes", "green") if each.no in holds else StyledText("no", "dim")
    when = StyledText(words.local(each.made_at), "dim")
    return [str(each.no), when, each.file.value, mark, each.why]
