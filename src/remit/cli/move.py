"""`remit move`: copy the store from its file to a Postgres server."""

from typing import Annotated

from remit import settings as house_settings
from remit.cli import out, words
from remit.cli.out import AsJson, flag
from remit.errors import BadInput
from remit.files.kept_files import KeptFiles
from remit.settings import sections
from remit.settings.checks import check_store_url
from remit.store import home
from remit.store.postgres import refuse_without_driver


def move(
    *,
    to: Annotated[str, flag("An empty database: postgresql://user@host/name.")],
    json: AsJson = False,
) -> int:
    """Copy everything to a Postgres database, checked, and work there from then on."""
    settings = house_settings.load()
    check_store_url(to, "--to")
    if settings.store.url:
        raise BadInput("The store is on a Postgres server already.", field="to")
    if not settings.database_file.exists():
        raise BadInput(
            f"There is nothing to move yet in {settings.home}. Write the address under [store] in "
            "settings.toml, and start.",
            field="to",
        )
    refuse_without_driver()
    from remit.store.postgres import move as store_move  # noqa: PLC0415 - an extra

    with home.lock(settings.home), out.measured("Copying") as tell:
        moved = store_move.move(settings.database_file, to, tell, KeptFiles(settings.files))
        sections.set_values(settings.home / "settings.toml", {"store": {"url": to}})
    sentence = (
        f"Moved and checked: {words.count(moved.tasks, 'task')}, "
        f"{words.count(moved.events, 'event')}. settings.toml names the database; "
        f"{settings.database_file} stays as it was and is not used any more."
    )
    return out.done(json, {"tasks": moved.tasks, "events": moved.events}, data=sentence)
