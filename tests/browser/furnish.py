"""An app with something of everything that the pages can show.

Run by hand it stays open: `.venv/bin/python -m tests.browser.furnish` prints a link.
"""

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, cast

from remit.brain.scripted import parse
from remit.model.codec import Json, JsonMap
from remit.model.status import TERMINAL, Status
from remit.store.secrets import Secrets
from tests.browser.site import MAIL_CHANNEL, Site, settings_in
from tests.server import workshop

NOW: Final = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)  # a Monday
SETTINGS: Final = f"""\
agent = "Nina"
owner = "Hanan"
zone = "Asia/Bangkok"

[budget]
day_cents = 500

[engine]
stop_limit = 1

[channels.ninas_whatsapp]
kind = "whatsapp"
number_id = "106540352242922"
token = "whatsapp_token"
owner = "66811234567"
url = "http://127.0.0.1:9/v25.0"
{MAIL_CHANNEL}"""
CONTACTS: Final = """\
- name: Anna Smith
  role: friend
  channels:
    ninas_whatsapp: "66899876543"
    post: anna@example.org
- name: Maya
  role: colleague
  channels:
    post: maya@example.org
"""
LIST: Final = """I looked at six pages and held the opening hours against each place's own.
<deliverable>*Bangkok with a 3 and a 5 year old*

1. KidZania, Siam Paragon. Half a day. Opens 10:30 on weekdays.
2. Sea Life Ocean World, same building. 2 hours.
3. Lumphini Park: monitor lizards and swan boats. Go before 9:00, it is cooler.
4. Children's Discovery Museum, Chatuchak. Free, water play outside.
5. Safari World, 45 minutes by car.

Strollers are fine at 1, 2 and 4.</deliverable>"""
MAIL: Final = """<deliverable>Hi Anna,

three slots for our catch-up: **Tuesday 10:00**, **Wednesday 14:00** or **Friday 9:30**.
Which one suits you?

Best, Hanan</deliverable>"""
SCRIPT: Final[list[Json]] = [
    {"when": "attractions", "reply": LIST, "done": [1, 2]},
    {"when": "catch-up", "reply": MAIL},
    {"when": "phuket", "ask": "I found two saved cards and will not guess. Which one shall I use?"},
    {"when": "emergency", "reply": "I will not write this.\n<deliverable>NONE</deliverable>"},
    {"when": "expenses", "fail": "permanent"},
    {"when": "insurance", "seconds": 3600, "reply": "<deliverable>Three offers.</deliverable>"},
    {
        "when": "checkout",
        "reply": "<deliverable>The N+1 query in cart totals explains 71% of p95.</deliverable>",
    },
    {"reply": "<deliverable>Swim day is Thursday, the bake sale moved to 5 March.</deliverable>"},
]
HISTORY: Final = (
    "Summarise the school newsletter",
    "Why is the checkout API slow?",
    "Weekly expenses export",
    "Sum up the minutes of the parents' evening",
    "Compare the two offers of the plumber",
)
TALK: Final = (
    "Read the school newsletter and tell me what matters. And at 18:57 remind me to call mom.",
    "What is running?",
)


class Furnished(Site):
    """A site with a past, a present and something to decide."""

    def __init__(self, home: Path) -> None:
        told = SETTINGS + workshop.settings(home / "projects")
        settings = settings_in(home, told, CONTACTS)
        Secrets(home, None).put("whatsapp_token", "EAAcanary7f3a91c4e2b85d60Zq9xW")
        super().__init__(home, settings=settings, brain=parse(SCRIPT))
        self.clock.jump(NOW - timedelta(hours=7))

    def furnish(self) -> None:
        """Let a day pass in which something happens."""
        for text in HISTORY:
            self._hand(text)
            self.clock.advance(timedelta(minutes=53))
        self.say("Every weekday at 8:30, prepare my standup notes")
        self.say("Every day at 18:00 check the flight prices to Bangkok")
        self.clock.jump(NOW - timedelta(hours=3))
        self._send("Emergency alert to the neighbours", "ninas_whatsapp", "Anna Smith")
        self.clock.jump(NOW - timedelta(minutes=41))
        self._hand("Which card for the Phuket hotel?")
        self.clock.jump(NOW - timedelta(minutes=26))
        self._send("Catch-up with Dr. Anna Smith", "post", "Anna Smith")
        self.clock.jump(NOW - timedelta(minutes=6))
        work: list[Json] = ["Find places for ages 3 and 5", "Check opening hours"]
        self._send("Kid-friendly Bangkok attractions", "ninas_whatsapp", "Anna Smith", work=work)
        self.clock.jump(NOW - timedelta(minutes=2))
        self._hand("Compare three car insurance offers", waits=(Status.RUNNING,))
        talk = str(self.post("/api/conversations", {})["id"])
        for words in TALK:
            self.post(f"/api/conversations/{talk}/turns", {"text": words})
        for text, project in (
            (workshop.ADVICE, "notes"),
            (workshop.STUCK, "shed"),
            (workshop.ADD, "shop"),
        ):
            self._hand(text, project=project)
        self.clock.jump(NOW)

    def say(self, text: str) -> None:
        self.post("/api/messages", {"text": text})

    def _send(self, title: str, channel: str, to: str, **more: Json) -> None:
        delivery: list[Json] = [{"channel": channel, "recipient": to}]
        self._hand(title, delivery=delivery, waits=(Status.NEEDS_REVIEW,), **more)

    def _hand(self, title: str, waits: Sequence[Status] = (), **more: Json) -> None:
        task = str(self.post("/api/tasks", {"title": title, "instructions": title, **more})["id"])
        self.do(self._until(task, waits or (*TERMINAL, Status.NEEDS_REVIEW)))

    async def _until(self, task: str, states: Sequence[Status]) -> None:
        self.app.engine.nudge()
        async for event in self.app.journal.follow(0):
            if event.task_id == task and event.data.get("to") in states:
                return

    def review_about(self, word: str) -> str:
        """Return the question of a task with this word in its title."""
        return next(self._ids("/api/reviews?limit=100", "reviews", word))

    def task_about(self, word: str) -> str:
        return next(self._ids("/api/tasks?limit=100", "tasks", word))

    def conversation(self) -> str:
        """Return the most recent conversation."""
        return next(self._ids("/api/conversations", "conversations", ""))

    def _ids(self, path: str, name: str, word: str) -> Iterator[str]:
        for each in cast("list[JsonMap]", self.get(path)[name]):
            if word in json.dumps(each):
                yield str(each["id"])


def main() -> None:
    """Stay open until the input ends."""
    with tempfile.TemporaryDirectory() as home, Furnished(Path(home)) as site:
        site.furnish()
        print(site.link(), flush=True)  # noqa: T201 - it is run by hand
        sys.stdin.read()


if __name__ == "__main__":
    main()
