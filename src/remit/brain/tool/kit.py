"""Builds the list of built-in tools that the settings allow."""

from pathlib import Path

from remit.brain.tool import create, files, log, owner, search
from remit.brain.tool.own import OwnTool
from remit.model.reply import Policy
from remit.settings import ToolSettings
from remit.store.database import Database


def own(
    tools: ToolSettings,
    db: Database,
    admit: create.Admit,
    work: Path,
    find: search.Find | None = None,
) -> list[OwnTool]:
    """Return every tool that is not denied; `find` searches earlier tasks by similarity."""
    every = [
        log.read_task_log(tools.read_task_log, db),
        search.search_tasks(tools.search_tasks, db, find),
        create.create_task(tools.create_task, db, admit),
        owner.ask_owner(tools.ask_owner),
        owner.tick_item(tools.tick_item),
        files.list_files(tools.list_files, work),
        files.read_file(tools.read_file, work),
        files.write_file(tools.write_file, work),
    ]
    return [each for each in every if each.set_to is not Policy.DENY]
