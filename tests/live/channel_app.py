"""An app with channels from its settings and an open server, so that providers can call back.

async with ChannelHouse(tmp_path, WHATSAPP.format(url=provider.url)) as app:
    task = await app.send("ninas_whatsapp", "Good day.")
    await tell(app.hook, call(statuses(…)))
"""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from remit.model.delivery import Delivery
from remit.model.ids import TaskId
from remit.model.review import Review, ReviewAnswer
from remit.model.status import Reason
from remit.model.task import Task
from remit.server.serve import serve
from remit.settings import load
from remit.store.secrets import Secrets
from remit.testing import World
from tests.channels.whatsapp.whatsapp import NUMBER_ID, PERSON, SECRET, TOKEN, call, messages, tell

VERIFY: Final = "verify-canary-81f2"
NAME: Final = "ninas_whatsapp"
WHATSAPP: Final = f"""\
[channels.{NAME}]
kind = "whatsapp"
number_id = "{NUMBER_ID}"
token = "whatsapp_token"
app_secret = "whatsapp_app_secret"
verify_token = "whatsapp_verify"
owner = "{PERSON}"
aliases = ["my phone"]
url = "{{url}}"
"""
KEPT: Final = {
    "whatsapp_token": TOKEN,
    "whatsapp_app_secret": SECRET,
    "whatsapp_verify": VERIFY,
}


class ChannelApp:
    """A world with its server; time stands still until it is moved."""

    def __init__(self, home: Path, settings: str, kept: Mapping[str, str] = KEPT) -> None:
        self.home = home
        home.mkdir(mode=0o700, exist_ok=True)
        (home / "settings.toml").write_text(settings, encoding="utf-8")
        self.secrets = Secrets(home)
        for name, value in kept.items():
            self.secrets.put(name, value)
        self.url = ""
        self.world: World
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        settings = load({"REMIT_HOME": str(self.home)})
        self.world = await self._stack.enter_async_context(World(self.home, settings=settings))
        url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        ready = url.set_result
        door = serve(self.world.app, port=0, debug=False, token="t" * 32, ready=ready)
        serving = asyncio.create_task(door)
        self._stack.push_async_callback(_ended, serving)
        self.url = await url
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    async def restart(self) -> None:
        """Stop in good order and start again as `remit up` does, at the same time of day."""
        now = self.world.now
        await self._stack.aclose()
        await self.__aenter__()
        self.world.clock.jump(now)
        for name in self.world.app.outfit.channels:
            await self.world.app.inbox.grant(Reason.AUTH, "started again", f"channel:{name}")

    @property
    def hook(self) -> str:
        return f"{self.url}/hooks/whatsapp/{NAME}"

    def write(self, name: str, text: str) -> None:
        """Write a file into the app's directory."""
        (self.home / name).write_text(text, encoding="utf-8")

    async def owner_wrote(self) -> None:
        """Open the window: for a day the owner may get any text."""
        await self.wrote(PERSON, "wamid.in.1")

    async def wrote(self, number: str, ref: str) -> None:
        stamp = str(int(self.world.now.timestamp()))
        said = {"from": number, "id": ref, "timestamp": stamp, "type": "text"}
        body = call(messages({**said, "text": {"body": "Good morning"}}))
        assert await tell(self.hook, body) == 200

    async def send(self, channel: str, text: str, recipient: str | None = None) -> Task:
        """Send a text as it is, and let immediate things happen."""
        task = await self.world.add("Send it", content=text, channel=channel, recipient=recipient)
        return await self.passes(task.id)

    async def passes(self, task: TaskId, seconds: float = 0) -> Task:
        """Let time pass; return the task afterwards."""
        await self.world.run(timedelta(seconds=seconds))
        return await self.world.get(task)

    async def only_question(self) -> Review:
        (review,) = await self.world.waiting()
        return review

    async def approve(self) -> None:
        await self.world.decide(await self.only_question(), ReviewAnswer.APPROVE)


def states(task: Task) -> list[str]:
    """Return the status of each delivery of a task."""
    return [each.status.value for each in task.delivery]


def only(task: Task) -> Delivery:
    (delivery,) = task.delivery
    return delivery


async def _ended(serving: "asyncio.Task[None]") -> None:
    serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving
