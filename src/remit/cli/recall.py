"""`remit recall`: find similar tasks; show, rebuild or switch off the index."""

from typing import Annotated, Final, cast

from remit import settings as app_settings
from remit.cli import codes, out, remit_client, words
from remit.cli.commands import CommandGroup
from remit.cli.out import AsJson, Piece, StyledText, flag, number_flag
from remit.model.codec import JsonMap
from remit.model.ids import TaskId
from remit.operations.settings_arguments import TurnRecallOff
from remit.settings import DEFAULT_FILE, Settings, sections
from remit.store.database import Tx
from remit.store.read_only import open_read_only

_LETTERS: Final = 8  # letters of an id; fewer are read as words
_COLOURS: Final = {"both": "green", "meaning": "cyan", "words": "dim"}

app = CommandGroup("recall")

Like = Annotated[str, flag("Words, or the id of a task.")]
Limit = Annotated[int, number_flag("At most this many; default: 5.", "--limit", "-n", most=50)]


@app.default
@app.command("status")
def status(*, json: AsJson = False) -> int:
    """Show how many tasks the index holds, and what is wrong."""
    settings = app_settings.load()
    with remit_client.open_client(settings) as way:
        state = way.recall_state()
        _show(settings, state, serves=way.serves, json=json)
    return codes.DONE


@app.command("find")
def find_(like: Like, /, *, limit: Limit = 5, json: AsJson = False) -> int:
    """Find tasks similar to a task or to some words."""
    settings = app_settings.load()
    with remit_client.open_client(settings) as way:
        found = way.find_like(_task_or_words(settings, like), limit)
    with open_read_only(settings.database) as tx:
        rows = [_row(tx, each) for each in cast("list[JsonMap]", found["alike"])]
    heads = ("ID", "BY", "SCORE", "TITLE")
    return out.listing(json, {"alike": found["alike"]}, rows, heads, "Nothing is like it.")


def _row(tx: Tx, each: JsonMap) -> list[Piece]:
    task, by = cast("JsonMap", each["task"]), str(each["by"])
    near = f"{float(str(each['score'])):.2f}" if by != "words" else ""
    short = StyledText(words.short_id(tx, TaskId(str(task["id"]))), "dim")
    return [short, StyledText(by, _COLOURS[by]), near, str(task["title"])]


@app.command()
def rebuild(*, json: AsJson = False) -> int:
    """Rebuild the index from the tasks."""
    settings = app_settings.load()
    with (
        remit_client.open_client(settings) as way,
        out.progress_bar("Reading tasks") as report_progress,
    ):
        state = way.rebuild_recall(report_progress)
    _show(settings, state, serves=True, json=json)
    return codes.FAILED if state["trouble"] else codes.DONE


@app.command()
def off(*, json: AsJson = False) -> int:
    """Delete the index, and keep none until `remit recall on`."""
    settings, state = app_settings.load(), remit_client.ask(TurnRecallOff())
    sections.set_values(settings.home / "settings.toml", {"recall": {"store": "off"}}, DEFAULT_FILE)
    _show(settings, state, serves=True, json=json)
    return codes.DONE


@app.command()
def on(*, json: AsJson = False) -> int:
    """Keep an index in this process again."""
    settings = app_settings.load()
    if settings.recall.is_off:
        chosen = {"recall": {"store": "embedded"}}
        sections.set_values(settings.home / "settings.toml", chosen, DEFAULT_FILE)
        settings = app_settings.load()
    sentence = "Recall is on. A Remit that runs begins with it in a few seconds."
    return out.print_result(json, {"store": settings.recall.store}, sentence)


def _task_or_words(settings: Settings, like: str) -> str:
    """Return the full id of a task, if the words are a prefix of one."""
    letters = like.strip().upper().removeprefix("TASK-")
    if len(letters) < _LETTERS or not letters.isalnum() or not any(map(str.isdigit, letters)):
        return like
    with open_read_only(settings.database) as tx:
        return words.find_task(tx, like)


def _show(settings: Settings, state: JsonMap, *, serves: bool, json: bool) -> None:
    if json:
        out.emit(state)
        return
    if not state["on"]:
        out.line("Recall is off; `remit recall on` begins again. Words are still found.")
        return
    held, tasks = int(str(state["snippets"])), int(str(state["tasks"]))
    facts: dict[str, Piece] = {
        "Holds": f"{held:,} of {words.count(tasks, 'task')}",
        "Kept by": str(state["store"]),
        "Read by": str(state["embedder"]),
    }
    if settings.recall.store == "embedded":
        facts["On disk"] = f"{_size(settings) / 1e6:,.1f} MB"
    if state["trouble"]:
        facts["Trouble"] = StyledText(str(state["trouble"]), "red")
    out.table([[StyledText(name, "dim"), fact] for name, fact in facts.items()])
    if held < tasks and not serves:
        out.hint("The rest is read while Remit is up, or by `remit recall rebuild`.")


def _size(settings: Settings) -> int:
    """Return the index's size on disk; sparse files take less than their length."""
    files = (settings.home / "recall").rglob("*")
    return sum(each.stat().st_blocks * 512 for each in files if each.is_file())
