"""One day in an app with a clock of its own: something of everything that a door can show.

The day is played over HTTP, one thing after the other, each at its own second. So the same things
happen in the same order every time, and all that differs between two days is masked (`masks`).
"""

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, cast

import httpx2

from remit.brain import scripted
from remit.model.codec import Json, JsonMap
from remit.model.delivery import Unknown
from remit.settings import load
from remit.store.secrets import Secrets
from tests.calendar.caldav_stage import event
from tests.channels.webhook.calls import SECRET, standard
from tests.cli import agenda
from tests.server.served import Served
from tests.specialist.repository import repository

START: Final = datetime(2026, 3, 2, 7, 0, tzinfo=UTC)  # a Monday, eight o'clock in Berlin
SETTINGS: Final = """\
agent = "Nina"
owner = "Hanan"
zone = "Europe/Berlin"

[brain]
kind = "scripted"

[engine]
stop_limit = 1

[deliver]
undo = 30

[channels.phone]
kind = "whatsapp"
number_id = "106540352242922"
token = "whatsapp_token"
app_secret = "whatsapp_app_secret"
verify_token = "whatsapp_verify"
owner = "66811234567"
url = "http://127.0.0.1:9/v25.0"

[channels.post]
kind = "email"
host = "127.0.0.1"
port = 9
security = "none"
sender = "nina@example.org"
owner = "hanan@example.org"

[tools]
write_file = "ask"

[hooks.orders]
secret = "hook_orders"
text = "Say in one line what was ordered."
title = "/order/name"

[calendar]
own = false
"""
PROJECT: Final = """
[projects.shop]
path = "{project}"
specialists = ["mender"]
commands.typecheck = ["true"]
commands.lint = ["grep", "-q", "total = 1", "cart.py"]
commands.unit-test = ["sh", "-c", "true", "{{pattern}}"]

[specialists.mender]
kind = "command"
argv = ["sh", "-c", "cat > /dev/null; echo 'total = 1' > cart.py; echo 'The total is right now.'"]
"""
SECRETS: Final = {
    "whatsapp_token": "EAAnotarealtoken",
    "whatsapp_app_secret": "0123456789abcdef",
    "whatsapp_verify": "verify-me",
    "hook_orders": SECRET,
}
CONTACTS: Final = """\
- name: Anna Smith
  role: friend
  aliases: [Annie]
  channels:
    outbox: anna@example.org
    phone: "66899876543"
- name: Ben
  role: colleague
  channels:
    outbox: ben@example.org
"""
SCRIPT: Final = """\
- when: My passport is
  reply: <deliverable>With this passport you need no visa.</deliverable>
- when: passport
  ask: Which passport do you hold?
- when: hotel
  ask: Which of the two hotels shall I take?
- when: hopeless
  fail: permanent
- when: untagged
  reply: I wrote it, but where are the tags?
- when: insurance
  seconds: 3600
  reply: <deliverable>Three offers.</deliverable>
- when: first draft
  reply: <deliverable>NONE</deliverable>
- when: notes
  use: {tool: write_file, args: {path: notes.txt, text: Remember the milk.}}
  times: 1
- when: parks
  done: [1, 2]
  reply: |
    I looked at two parks.
    <deliverable>*Two parks*

    1. Lumphini Park: a lake, monitor lizards.
    2. Benjakitti Park: a *long* path.</deliverable>
- reply: I thought about it. <deliverable>Done as asked.</deliverable>
"""
_NAME: Final = re.compile(r"\{(\w+)\}")
HOOK_BODY: Final = b'{"order": {"name": "Two lamps"}}'


class Day(Served):
    """An app at work in a folder, and the names of what happened there."""

    def __init__(self, folder: Path) -> None:
        home = folder / "home"
        home.mkdir(mode=0o700)
        project = repository(folder / "shop", {"cart.py": "total = 0\n"})
        told = SETTINGS + PROJECT.format(project=project)
        (home / "settings.toml").write_text(told)
        (home / "contacts.yaml").write_text(CONTACTS)
        (home / "brain.yml").write_text(SCRIPT)
        for name, value in SECRETS.items():
            Secrets(home, None).put(name, value)
        settings = load({"REMIT_HOME": str(home)})
        self.brain = scripted.load(home / "brain.yml")
        super().__init__(home, works=True, debug=True, brain=self.brain, settings=settings)
        self.clock.jump(START)
        self.names: dict[str, str] = {}

    # Time -----------------------------------------------------------------------------------------

    def pass_time(self, **span: float) -> None:
        """Let time pass; whoever slept wakes on the loop of the app."""
        self.do(self._advance(timedelta(**span)))
        self.settle()

    def stop_work(self) -> None:
        """End what runs. From now on nothing is worked on: no answer depends on who is faster."""
        self.patch(self.names["running"], "cancel")
        self.settle()
        self._works = False
        self.do(self.app.engine.stop())
        self.pass_time(seconds=1)

    async def _advance(self, by: timedelta) -> None:
        self.clock.advance(by)

    async def _settle(self) -> None:
        app = self.app
        await app.talk.settled()
        if self._works:
            await self._work()
        await app.herald.catch_up()

    async def _work(self) -> None:
        """First what is due, then what comes after it: one thing after the other."""
        app = self.app
        for _ in range(2):
            app.engine.nudge()
            await app.engine.settled()
            await app.repeater.catch_up()
        await app.deferred.catch_up()
        await app.leftovers.settle()
        await app.talk.settled()

    # The day --------------------------------------------------------------------------------------

    def play(self) -> None:
        """Let the day pass."""
        self.pass_time(seconds=1)
        self._allow("Ben")
        self._morning()
        self._noon()
        self._afternoon()
        self._name_questions()

    def _morning(self) -> None:
        """What is done, asked, refused, and comes back."""
        self._hand("done", "Find two parks", work=["Look around", "Compare the parks"])
        self._hand("asks", "Renew my passport")
        self._hand("hotel", "Book the hotel in Phuket")
        self._hand("failed", "A hopeless case")
        self._hand("held", "Write the untagged report")
        self._hand("empty", "Look at the first draft")
        self._hand("asks_tool", "Write notes about the meeting")
        self._hand("sent", "Tell Ben about the parks", delivery=_to("Ben"))
        self.outbox.answers.append(Unknown("The line broke after the message was sent."))
        self._hand("doubt", "Greet Ben", delivery=_to("Ben", "Good morning, Ben."))
        self._say("series", "Every weekday at 8:30, prepare my standup notes")
        self._say("reminder", "Remind me tomorrow at 9 to call mom")
        self._say("unclear", "Send it to Zoe")

    def _noon(self) -> None:
        """What others bring, and what goes to others."""
        self.pass_time(hours=4)
        self._hand("approval", "Write to Anna about the parks", delivery=_to("Anna Smith"))
        self._hand("approval2", "Greet Anna", delivery=_to("Anna Smith", "Hello Anna!"))
        self._hand("approved", "Invite Anna", delivery=_to("Anna Smith", "Dinner at 8?"))
        body: JsonMap = {"answer": "approve", "text": None}
        self.post(f"/api/reviews/{self.review('approved')}/decision", body)
        self.pass_time(seconds=31)
        self.pass_time(seconds=7)
        assert self.call_hook("msg_1").status_code == 202
        self.settle()
        self._calendar()
        self._hand("later", "Plan the trip", scheduledFor="2026-03-09T09:00:00Z", priority="high")
        self._hand("cancelled", "Water the plants", scheduledFor="2026-03-08T09:00:00Z")
        self.patch(self.names["cancelled"], "cancel")
        self._hand("paused", "Sort the photos", scheduledFor="2026-03-08T10:00:00Z")
        self.patch(self.names["paused"], "pause")
        self._hand("deleted", "Throw this away")
        self.ask("DELETE", f"/api/tasks/{self.names['deleted']}")
        self._hand("code", "Mend the total of the cart", project="shop", files=["cart.py"])

    def _afternoon(self) -> None:
        """Talk, notices, tokens, a saved view; and something that takes long."""
        self.pass_time(hours=2)
        self._talk("What is running?", "Find two parks near the river tomorrow at 9", "Hello")
        self.post("/api/notices/test", {"way": "conversation"})
        token = self.post("/api/tokens", {"name": "ci", "scopes": ["read", "write"]})
        self.names["token"] = str(token["id"])
        agent: JsonMap = {"name": "peer", "scopes": ["read", "write"], "agent": True}
        self.names["secret"] = str(self.post("/api/tokens", agent)["secret"])
        self.post("/api/views", {"name": "parks", "filter": "parks"})
        self._begin("running", "Compare three insurance offers")

    def _name_questions(self) -> None:
        """Each question that waits is named after its task, and each series after its first."""
        tasks = {task: name for name, task in self.names.items()}
        for each in self.do(self.app.inbox.waiting()):
            self.names[f"review_{tasks.get(str(each.task_id), 'other')}"] = str(each.id)
        found = cast("list[JsonMap]", self.get("/api/series")["series"])
        self.names["series_id"] = str(found[0]["id"])

    # What is done ---------------------------------------------------------------------------------

    def _hand(self, name: str, text: str, **more: Json) -> None:
        self.pass_time(seconds=7)
        self.names[name] = self.add(text, title=text, **more)
        self.settle()

    def _begin(self, name: str, text: str) -> None:
        """Hand over what takes long, and return when the brain thinks about it."""
        self.pass_time(seconds=7)
        self.names[name] = self.add(text, title=text)
        while not any(text in each for each in self.brain.heard):
            time.sleep(0.002)

    def _say(self, name: str, text: str) -> None:
        """Say something in a message; its first task or series has the name."""
        self.pass_time(seconds=7)
        told = self.post("/api/messages", {"text": text})
        self.settle()
        made = cast("list[JsonMap]", told["tasks"])
        if made:
            self.names[name] = str(made[0]["id"])

    def _talk(self, *words: str) -> None:
        talk = str(self.post("/api/conversations", {"title": "Parks"})["id"])
        for text in words:
            self.pass_time(seconds=7)
            self.post(f"/api/conversations/{talk}/turns", {"text": text})
            self.settle()
        self.names["talk"] = talk

    def call_hook(self, ident: str) -> httpx2.Response:
        """Call the hook as the program does that knows its secret."""
        call = standard(HOOK_BODY, ident=ident, at=self.clock.now())
        url = self.url + "/hooks/in/orders"
        return self.client.post(url, content=call.body, headers=dict(call.headers))

    def _calendar(self) -> None:
        self.pass_time(seconds=7)
        soon = self.clock.now() + timedelta(hours=20)
        daily = event("report", soon, "Write the report", "RRULE:FREQ=DAILY;COUNT=3")
        self.do(agenda.write(self.app, daily, event("call", soon + timedelta(days=7), "Call")))
        self.settle()

    def _allow(self, contact: str) -> None:
        said: JsonMap = {"contact": contact, "channel": "outbox", "policy": "allow"}
        self.post("/api/contacts/permissions", said)

    def review(self, name: str) -> str:
        """The question that a task asks."""
        found = self.do(self.app.inbox.waiting())
        return next(str(each.id) for each in found if each.task_id == self.names[name])


def fill(text: str, names: Mapping[str, str]) -> str:
    """Put the ids in: `{done}` is the task that the day calls so."""
    return _NAME.sub(lambda found: names.get(found[1], found[0]), text)


def _to(recipient: str, content: str | None = None) -> list[Json]:
    """A delivery to somebody, of a text that is written already or not."""
    return [{"channel": "outbox", "recipient": recipient, "content": content}]
