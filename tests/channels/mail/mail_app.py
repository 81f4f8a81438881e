"""An app with inbound mail, a hook and an obedient brain; mails are put in by hand."""

from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from remit.channels import people
from remit.channels.mail import receiving
from remit.files.kept_files import KeptFiles
from remit.model.task import Task
from remit.ports import Brain
from remit.settings import load
from remit.store.cues import StoredCue
from remit.store.secrets import Secrets
from remit.testing import ObedientBrain, Outbox, World
from tests.channels.mail.mails import ANNA, US
from tests.channels.webhook.calls import SECRET
from tests.engine.rig import everything
from tests.sections import mail_section

SETTINGS: Final = f"""
owner = "Hanan"
zone = "UTC"
[contracts]
written = false
[deliver]
undo = 0
{mail_section(imap_port=9)}
[doors.post]
authserv_id = "{US}"
contacts = "{{contacts}}"
{{more}}
[hooks.shop]
secret = "hook_shop"
hourly = 5
"""
CONTACTS: Final = f"""\
- name: Dr. Anna Smith
  aliases: [Anna]
  channels: {{email: {ANNA}}}
- name: Bert
  channels: {{email: bert@home.example}}
  policy: {{email: allow}}
"""


class MailApp:
    """`post` records what would have been sent, and nothing else is sent."""

    def __init__(
        self, home: Path, brain: Brain | None = None, more: str = "", contacts: str = "start"
    ) -> None:
        told = SETTINGS.format(more=more, contacts=contacts)
        (home / "settings.toml").write_text(told)
        (home / "contacts.yaml").write_text(CONTACTS)
        Secrets(home).put("hook_shop", SECRET)
        self.home = home
        self.brain = brain or ObedientBrain()
        self.post = Outbox("post")
        settings = load({"REMIT_HOME": str(home)})
        self.world = World(home, brain=self.brain, channels={"post": self.post}, settings=settings)

    async def came(self, raw: bytes, said_at: datetime | None = None) -> StoredCue:
        """Take in a mail, which is stored.

        `said_at` is when it may have come at the latest, in the first look after a restore.
        """
        stored = await self.taken(raw, said_at)
        assert stored is not None
        return stored

    async def taken(self, raw: bytes, said_at: datetime | None = None) -> StoredCue | None:
        """Take in a mail as the mailbox watch does; None if it is not stored."""
        entrance = self.world.app.doors.entrance
        door = self.world.app.settings.doors["post"]
        arrival = entrance._sort_mail("post", door, receiving.head(raw, US))
        if arrival is None:
            return None
        told = people.with_mail_text(
            KeptFiles(self.home / "tasks" / "files"), arrival, receiving.letter(raw, US)
        )
        told = replace(told, said_at=said_at or told.said_at)
        return await entrance._take_mail("post", told)

    async def tasks(self) -> list[Task]:
        return await everything(self.world)

    async def only(self) -> Task:
        (task,) = await self.tasks()
        return task
