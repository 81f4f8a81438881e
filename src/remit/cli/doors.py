"""`remit doors`: how work comes in from others, what came in, and what became of it."""

from datetime import timedelta
from typing import Annotated, Final

from cyclopts import App

from remit import settings as house_settings
from remit.cli import clock, codes, door_state, out, remit_client, words
from remit.cli.options import AsJson, flag
from remit.cli.out import Piece, StyledText
from remit.errors import BadInput
from remit.model.codec import Json, JsonMap, stamp
from remit.operations.settings_arguments import StartCue
from remit.store import cues
from remit.store.cues import CueFate, StoredCue
from remit.store.read_only import glance

_DAY: Final = timedelta(days=1)
_STYLE: Final = {"ok": "green", "warn": "yellow", "fail": "red"}
_MOST: Final = 500
_FATES: Final = {
    CueFate.WAITING: "yellow",
    CueFate.STARTED: "green",
    CueFate.TALKED: "green",
    CueFate.IGNORED: "dim",
    CueFate.OVER: "yellow",
}

app = App(name="doors")


@app.default
@app.command(name="ls")
def ls(*, json: AsJson = False) -> int:
    """Every door of the settings: how it stands, and what came by it in a day."""
    settings, now = house_settings.load(), clock.now()
    found = list(door_state.door_states(settings, now - _DAY))
    if json:
        told: list[Json] = [
            {"door": each.name, "verdict": each.verdict, "said": each.said, "todo": each.todo}
            for each in found
        ]
        out.emit({"doors": told})
        return codes.DONE
    if not found:
        out.say("There is none: `remit hooks add NAME`, or [doors] and [folders] in settings.toml.")
    for each in found:
        out.line(
            StyledText(f"{each.verdict:<5}", _STYLE[each.verdict]), f"{each.name}: {each.said}"
        )
        if each.todo:
            out.line(" " * 5, StyledText(each.todo, "dim"))
    return codes.DONE


@app.command
def came(
    *,
    limit: Annotated[int, flag("How many, the newest first.", "--limit", "-n")] = 20,
    json: AsJson = False,
) -> int:
    """What came in and what became of it; what started nothing can be started by its name."""
    if not 1 <= limit <= _MOST:
        raise BadInput(f"--limit must lie between 1 and {_MOST}.", field="limit")
    with glance(house_settings.load().database) as tx:
        found = cues.latest(tx, limit)
    if json:
        told: list[Json] = [_told(each) for each in found]
        out.emit({"cues": told})
        return codes.DONE
    if not found:
        out.say("Nothing came in yet.")
        return codes.DONE
    out.table([_row(each) for each in found])
    return codes.DONE


@app.command
def start(
    name: Annotated[str, flag("Its short name, as `remit doors came` shows it.")],
    /,
    *,
    json: AsJson = False,
) -> int:
    """Start work on something that came in and was only kept. It stays a stranger's words."""
    with remit_client.opened(house_settings.load()) as way:
        found = way.ask(StartCue(name))
    if json:
        out.emit(found)
    elif found["taskId"]:
        out.say(f"It is {found['fate']}: {found['taskId']}.")
    else:
        out.say(f"It is {found['fate']}. {found['why']}")
    return codes.DONE


def _row(each: StoredCue) -> list[Piece]:
    became = StyledText(each.fate.value, _FATES[each.fate])
    more = each.task_id or each.why
    when = words.relative(each.heard_at, clock.now())
    return [each.name, StyledText(when, "dim"), each.door, became, out.cut(_what(each), 50), more]


def _what(each: StoredCue) -> str:
    said = next((each.body[key] for key in _NAMED if each.body.get(key)), "")
    return f"{each.sender}: {said}" if each.sender else str(said)


def _told(each: StoredCue) -> JsonMap:
    return {
        "cue": each.name,
        "door": each.door,
        "sender": each.sender,
        "heardAt": stamp(each.heard_at),
        "fate": each.fate.value,
        "why": each.why,
        "taskId": each.task_id,
        "what": _what(each),
    }


_NAMED: Final = ("subject", "title", "name", "text")
