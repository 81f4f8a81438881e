"""Attacks 16, 48: what a provider repeats of our secrets is in nothing that is kept or told."""

import asyncio
import base64
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from remit.journal.scribe import FOLDER, keep_logs, keep_queue
from remit.store import tasks
from tests.channels.whatsapp.whatsapp import SECRET, TOKEN, Order, Provider
from tests.live.channel_app import NAME, VERIFY, WHATSAPP, ChannelApp
from tests.live.conftest import Ear
from tests.soak import one_in

TOLD = (TOKEN, SECRET, VERIFY)
GOSSIP = [
    *(Order(status=code, code=190, details=f"bad {TOKEN}") for code in (400, 401, 403)),
    *(Order(status=code, code=100, details=f"{TOKEN}x") for code in (404, 409, 422, 429)),
    Order(status=500, body=f"<html>{TOKEN} {SECRET}</html>".encode()),
    Order(status=400, body=f'{{"error": {{"message": "{TOKEN}"}}}}'.encode()),
    Order(status=200, body=f'{{"messages": "{TOKEN}"}}'.encode()),
]
BEARER = {"Authorization": "Bearer " + "t" * 32}
PAGES = ("/api/events?since=0", "/api/tasks", "/api/reviews", "/api/inbox", "/api/channels")


def _leaks(text: bytes) -> list[str]:
    """Which secrets stand in some bytes, as they are or in the clothes of base64."""
    return [
        each
        for each in TOLD
        if each.encode() in text or base64.b64encode(each.encode()).rstrip(b"=")[:-1] in text
    ]


async def _all_told(app: ChannelApp) -> dict[str, bytes]:
    """Every answer of the API about what happened."""
    tasks = [f"/api/tasks/{row}" for row in await _tasks(app)]
    async with httpx2.AsyncClient(
        headers=BEARER, timeout=100, trust_env=False, verify=False
    ) as line:
        every = (*PAGES, *tasks, *(f"{each}/log" for each in tasks))
        return {path: (await line.get(app.url + path)).content for path in every}


async def _tasks(app: ChannelApp) -> list[str]:
    return [str(found) for found in await app.world.app.db.read(tasks.ids_like, "task-")]


@one_in(3)
@pytest.mark.parametrize("order", GOSSIP, ids=lambda order: f"{order.status}")
async def test_what_a_provider_repeats_is_in_no_file_no_answer_and_no_log(
    tmp_path: Path, ear: Ear, order: Order
) -> None:
    home = tmp_path / "home"
    async with (
        Provider() as provider,
        ChannelApp(home, WHATSAPP.format(url=provider.url)) as app,
    ):
        journal, db = app.world.app.journal, app.world.app.db
        keeping = [
            asyncio.create_task(keep_logs(journal, app.world.app.settings.logs)),
            asyncio.create_task(keep_queue(journal, db, home / FOLDER)),
        ]
        await app.owner_wrote()
        provider.orders = [order]
        await app.send(NAME, "Good day.")
        assert len(provider.heard) == 1
        told = await _all_told(app)
        await asyncio.wait(keeping, timeout=1)
        for each in keeping:
            each.cancel()
            with suppress(asyncio.CancelledError):
                await each

    kept = {str(path): path.read_bytes() for path in home.rglob("*") if path.is_file()}
    secrets = [name for name in kept if Path(name).name.startswith("secrets")]
    assert len(secrets) == 1
    assert _leaks(kept.pop(secrets[0])) == list(TOLD)  # where it may stand, it does
    assert [name for name in kept if name.endswith((".db", ".jsonl", ".json"))]
    assert all(len(text) > 20 for text in told.values())
    assert {name: found for name, text in kept.items() if (found := _leaks(text))} == {}
    assert {path: found for path, text in told.items() if (found := _leaks(text))} == {}
    assert [line for line in ear.lines if _leaks(line.encode())] == []
