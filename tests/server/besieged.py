"""An app with something of everything, and every kind of caller: each route is tried."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import httpx2

from remit.model.codec import Json, JsonMap
from remit.server import app as pages_app
from remit.server.routes import Route
from tests.server.served import FORM, TOKEN, Served

CONTACTS: Final = """\
- name: Anna
  channels:
    outbox: anna@example.org
- name: Bea
  channels:
    outbox: bea@example.org
"""
# A plausible body for each route; the others get none.
SAID: Final[Mapping[str, JsonMap]] = {
    "NewMessage": {"text": "Remind me to water the plants"},
    "NewConversation": {"title": "About plants"},
    "NewTitle": {"title": "Other plants"},
    "NewTurn": {"text": "approve it"},
    "Bulk": {"action": "pause", "filter": "plants"},
    "NewTask": {"text": "Water the plants"},
    "KeepFile": {"name": "plants.txt", "content": "d2F0ZXI="},
    "AccountForm": {"kind": "gmail", "name": "post"},
    "TaskChange": {"title": "Water all plants"},
    "NewDecision": {"answer": "approve"},
    "Postponement": {"hours": 1},
    "NewPermission": {"contact": "Bea", "channel": "outbox", "policy": "allow"},
    "ChangedContact": {"role": "friend"},
    "ChannelTest": {},
    "PairChannel": {},
    "NewRule": {"kind": "permission", "contact": "Bea", "channel": "outbox"},
    "SkipSlot": {},
    "UnskipSlot": {"slot": "2031-01-01T10:00:00Z"},
    "RepeatSeries": {"every": "every day at 9:00"},
    "SeeResults": {},
    "RepeatForm": {"every": "every day at 9:00"},
    "SeenForm": {},
    "ContactAnswer": {"name": "Dora", "channel": "outbox", "address": "dora@example.org"},
    "MoveSlot": {"to": "2031-01-01T10:00:00Z"},
    "SeriesRules": {"missed": "skip"},
    "NewToken": {"name": "mine", "scopes": ["read"]},
    "NewSubscription": {
        "endpoint": "https://push.example.org/one",
        "keys": {"p256dh": "BA", "auth": "AA"},
    },
    "SignInToken": {"token": "wrong"},
    "OrderForm": {"text": "Remind me to water the plants"},
    "TurnForm": {"text": "Remind me to water the plants"},
    "NewAnswer": {"answer": "approve"},
    "NewText": {"text": "Hello"},
    "NewLater": {"until": "hour"},
    "NewTry": {"instructions": "Again"},
    "NewName": {"title": "Other plants"},
    "NewView": {"name": "plants", "filter": "plants"},
    "RemoveViewForm": {"name": "plants"},
    "BulkForm": {"action": "pause", "every": "true", "q": "plants", "sure": "true"},
    "SlotForm": {"at": "2031-01-01T10:00:00+00:00"},
    "MoveSlotForm": {"at": "2031-01-01T10:00:00+00:00", "to": "2031-01-01T12:00"},
    "RetryForm": {"instructions": "Again"},
    "NewEdit": {"priority": "low", "version": "1", "title": "Water all plants"},
    "RemoveContactForm": {"name": "Bea"},
    "TokenForm": {"name": "mine", "scopes": "read"},
    "RefusalForm": {"account": "work", "calendar": "/team/", "path": "/a.ics"},
    "TriedWay": {"way": "conversation"},
    "ReaddressReview": {"channel": "outbox", "to": "ben@example.org"},
    "FinishSignIn": {"state": "x", "code": "y"},
}
SECRET: Final = "marmalade"  # stands in all that is the owner's, and nowhere else
LATER: Final = "2031-01-01T09:00:00Z"
OFTEN: Final[JsonMap] = {"rule": "FREQ=DAILY", "zone": "UTC", "first": LATER}
CONTACT: Final[JsonMap] = {"name": "Cleo", "role": "friend"}


class Besieged(Served):
    """A served, working app; Anna may be written to without asking, Bea may not."""

    def __init__(self, home: Path) -> None:
        (home / "contacts.yaml").write_text(CONTACTS)
        super().__init__(home, works=True)
        self.ids: dict[str, str] = {}

    def _listens(self, url: str) -> None:
        super()._listens(url)
        self.url = self.pages  # the address that a browser shows

    def furnish(self) -> None:
        """Make something of everything: asked, ended, planned, repeating, discussed."""
        allowed = {"contact": "Anna", "channel": "outbox", "policy": "allow"}
        self.post("/api/contacts/permissions", {**allowed})
        planned = self.add("Water the plants", scheduledFor=LATER)
        self.say("Every day at 18:00 check the plants")
        asked = self.add("Renew my passport")
        self.add("Find a park")
        self.settle()
        series = self.get("/api/series")["series"]
        token = self.post("/api/tokens", {"name": "another", "scopes": ["read"]})
        self.post("/api/views", {"name": "mine", "filter": "plants"})
        talk = self.post("/api/conversations", {"title": "Plants"})
        self.ids = {
            "task": planned,
            "asked": asked,
            "review": self.review_of(asked),
            "series": str(series[0]["id"]),
            "conversation": str(talk["id"]),
            "token": str(token["id"]),
        }

    def say(self, text: str) -> None:
        self.post("/api/messages", {"text": text})

    def review_of(self, task: str) -> str:
        found = self.do(self.app.inbox.waiting())
        return next(str(each.id) for each in found if each.task_id == task)

    def secret(self, name: str, *scopes: str, agent: bool = False) -> str:
        body: JsonMap = {"name": name, "scopes": list[Json](scopes), "agent": agent}
        return str(self.post("/api/tokens", body)["secret"])

    def cookie(self) -> str:
        """Return the cookie of a signed-in browser."""
        answer = self.client.get(str(self.post("/api/sign-ins")["url"]))
        self.client.cookies.clear()
        return str(answer.headers["set-cookie"]).partition(";")[0]

    # Trying -------------------------------------------------------------------------------------

    def place(self, route: Route) -> str:
        """Return the address of something that exists."""
        kinds = {"/api/conv": "conversation", "/conv": "conversation", "/api/rev": "review"}
        kinds |= {"/api/ser": "series", "/sched": "series", "/inbox": "review"}
        kinds |= {"/api/tok": "token", "/settings/tok": "token"}
        kind = next((k for start, k in kinds.items() if route.path.startswith(start)), "task")
        found = {"id": self.ids[kind], "task": self.ids["task"], "part": "bar"}
        found |= {"section": "contacts", "name": "outbox", "sha256": "ab" * 32}
        if "contacts" in route.path or "views" in route.path:
            found["name"] = "mine" if "views" in route.path else "Bea"
        return route.path.format(**found)

    def said(self, route: Route) -> JsonMap:
        """Return a plausible body."""
        kind = route.body.__name__ if route.body else ""
        return CONTACT if kind in ("NewContact", "ContactForm") else SAID.get(kind, {})

    def send(
        self, route: Route, headers: Mapping[str, str], form: bytes | None = None
    ) -> httpx2.Response:
        """Call a route plausibly, as a page's form or as JSON."""
        said = self.said(route)
        sent = {"Content-Type": FORM if route.page else "application/json", **headers}
        self.client.cookies.clear()
        request = self.client.build_request(
            route.method,
            self.url + self.place(route),
            headers=sent,
            content=form if form is not None else urlencode(said) if route.page else None,
            json=None if route.page or route.body is None else said,
        )
        return self.client.send(request)

    def last(self) -> int:
        return self.do(self.app.journal.last())

    def kept(self) -> str:
        """Return everything stored, and the contact book, to see that nothing changed."""
        self.settle()  # what another test began is no change
        with closing(sqlite3.connect(self.home / "agent.db")) as file:
            stored = "\n".join(file.iterdump())
        return stored + (self.home / "contacts.yaml").read_text()


def bearer(secret: str = TOKEN) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def rows(*methods: str, page: bool | None = None) -> list[Route]:
    """Return routes with these methods, pages or not."""
    return [
        each
        for each in pages_app.table(1, debug=False)
        if (not methods or each.method in methods) and page in (None, each.page)
    ]


def named(route: Route) -> str:
    return f"{route.method} {route.path}"
