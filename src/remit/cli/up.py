"""`remit up`: start the app, the engine and the HTTP server, and run until stopped."""

import asyncio
from typing import Annotated

from remit import settings as house_settings
from remit.cli.out import AsJson, Port, flag
from remit.cli.remit_client import furnish
from remit.errors import BadInput


def up(
    *,
    port: Port = None,
    debug: Annotated[bool, flag("Open the API for testers too.")] = False,
    json: AsJson = False,
) -> int:
    """Start Remit here: it works on tasks and answers on 127.0.0.1 until you stop it."""
    from remit.cli.up_process import UpProcess  # noqa: PLC0415 - the whole app, and not for its help

    settings = house_settings.load()
    furnish(settings)
    if settings.engine.is_shared:
        sentence = "These settings are for several processes: run `remit serve` and `remit worker`."
        raise BadInput(sentence, field="kind")
    return asyncio.run(UpProcess(settings, debug=debug, json=json).run(port))
