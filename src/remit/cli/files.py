"""`remit files`: the files of a task, and a copy of one of them."""

from pathlib import Path
from typing import Annotated, cast

from remit import settings as house_settings
from remit.cli import out, words
from remit.cli.out import AsJson, flag, free
from remit.errors import BadInput, NotFound
from remit.files.kept_files import KeptFiles
from remit.model.codec import JsonMap, to_json
from remit.model.task_file import TaskFile
from remit.store import tasks
from remit.store.read_only import glance


def files(
    task: Annotated[str, free("The task.")],
    /,
    *,
    save: Annotated[str | None, flag("The file to copy, by its name or hash.")] = None,
    to: Annotated[Path | None, flag("Where the copy goes; this folder, if not said.")] = None,
    json: AsJson = False,
) -> int:
    """List what came in with a task and what its messages carry; --save copies one."""
    settings = house_settings.load()
    with glance(settings.database) as tx:
        found = tasks.get(tx, words.find_task(tx, task)).files
    if save is not None:
        from remit.store.opening import task_files  # noqa: PLC0415 - loads asyncio

        return _save(task_files(settings), found, save, to, json=json)
    if not found:
        out.say("This task has no files.")
    lines = (
        f"{'out' if each.made else 'in':3}  {each.size_text:>9}  {each.sha256[:12]}  {each.name}"
        for each in found
    )
    return out.done(json, {"files": [*map(to_json, found)]}, data="\n".join(lines))


def _save(
    kept: KeptFiles, found: tuple[TaskFile, ...], name: str, to: Path | None, *, json: bool
) -> int:
    fits = [each for each in found if each.name == name or each.sha256.startswith(name.lower())]
    if not fits:
        raise NotFound("file", f"{name!r:.60}; `remit files` lists those of a task")
    content = kept.read(fits[-1].sha256)
    if content is None:
        raise BadInput(f"{fits[-1].name} is not kept any more, or is damaged.", field="save")
    target = (to or Path()) / fits[-1].name if to is None or to.is_dir() else to
    try:
        with target.open("xb") as file:
            file.write(content)
    except OSError as error:
        raise BadInput(f"{target} was not written: {error.strerror}.", field="to") from None
    payload = cast("JsonMap", to_json(fits[-1]))
    return out.done(json, {"saved": str(target), **payload}, data=str(target))
