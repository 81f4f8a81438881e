"""Providers that outlive their senders, and a Remit that is killed in between.

The verdict rests on two witnesses: what the provider accepted, and the database rows, read with
plain SQL. What Remit says about itself is compared with them, never believed.
"""

import base64
import json
from collections import Counter
from email.message import EmailMessage
from pathlib import Path
from typing import Final, cast

from tests import forks
from tests.channels.mail.mail import PostOffice
from tests.channels.telegram.bot_server import BotServer
from tests.channels.webhook.hooks import Receiver
from tests.channels.whatsapp.whatsapp import BridgeProvider, Heard, Provider
from tests.engine import channels_worker
from tests.engine.lives import Home, ended
from tests.live.loopback import ServerThread
from tests.live.proxy import Proxy, Trap, before, half_of

KINDS: Final = ("whatsapp", "email", "webhook", "telegram")
GIVEN: Final = ("bridge", "hook")  # an unknown send is repeated under its key

# Where a request is half written, and what is on its way back once it is accepted.
HALF: Final = {
    "whatsapp": Trap(half_of(b"biz_opaque_callback_data"), up=True),
    "email": Trap(half_of(b"Message-ID"), up=True),
    "telegram": Trap(half_of(b"link_preview_options"), up=True),
    "webhook": Trap(half_of(b"specversion"), up=True),
    "hook": Trap(half_of(b"specversion"), up=True),
    "bridge": Trap(half_of(b'"id":"dlv-'), up=True),
}
ACCEPTED: Final = {
    "whatsapp": Trap(before(b"HTTP/1.1 200"), up=False),
    "email": Trap(before(b"250 2.0.0 OK: queued"), up=False),
    "telegram": Trap(before(b"HTTP/1.1 200"), up=False),
    "webhook": Trap(before(b"HTTP/1.1 200"), up=False),
    "hook": Trap(before(b"HTTP/1.1 200"), up=False),
    "bridge": Trap(before(b"HTTP/1.1 200"), up=False),
}


class Town(ServerThread):
    """One provider of a kind, and the proxy to it, in their own thread."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__()

    async def open(self) -> None:
        self._office, self._whatsapp, self._receiver = PostOffice(), Provider(), Receiver()
        self._bridge, self._telegram = BridgeProvider(knows_ids=True), BotServer()
        if self.kind == "email":
            port = (await self.entered(self._office)).port
        else:
            servers = {
                "whatsapp": self._whatsapp,
                "bridge": self._bridge,
                "telegram": self._telegram,
            }
            server = servers.get(self.kind, self._receiver)
            port = (await self.entered(server)).port
        self.line = await self.entered(Proxy(port))

    def accepted(self) -> list[str]:
        """Return the accepted keys, as often as accepted."""
        return [key for key, _ in self.parcels()]

    def parcels(self) -> list[tuple[str, str | None]]:
        """Return the same with their recipients; None is the owner of a hook."""
        match self.kind:
            case "whatsapp" | "bridge":
                taken = (*self._whatsapp.accepted, *self._bridge.accepted)
                return [(str(message.key), message.to) for message in taken]
            case "email":
                mails = (
                    (str(each.parsed["Message-ID"]), each.to) for each in self._office.accepted
                )
                return [(name.strip("<>").partition("@")[0], to[0]) for name, to in mails]
            case "telegram":  # no key goes out with a message; `Life` knows it by its text
                said = self._telegram.accepted
                return [(each.text, f"{each.chat}@telegram") for each in said]
            case "hook":  # the same key again is the same message
                return [(taken.key, taken.recipient) for taken in self._receiver.taken]
            case _:
                heard = self._receiver.heard
                return [(each.headers["webhook-id"], _recipient(each)) for each in heard]

    def contents(self) -> list[bytes]:
        """Return the files that the provider accepted."""
        match self.kind:
            case "telegram":
                said = [fields for _, fields in self._telegram.asked if "content" in fields]
                return [str(each["content"]).encode("latin-1") for each in said]
            case "whatsapp":
                return list(self._whatsapp.media.values())
            case "email":
                mails = [each.parsed for each in self._office.accepted]
                return [part.get_content().encode() for mail in mails for part in _attached(mail)]
            case _:
                data = [cast("dict[str, object]", each.fields["data"]) for each in self._heard()]
                files = [cast("list[dict[str, str]]", each["files"]) for each in data]
                return [base64.b64decode(file["content"]) for each in files for file in each]

    def _heard(self) -> list[Heard]:
        return self._receiver.heard

    async def set_trap(self, trap: Trap) -> None:
        self.line.victim, self.line.trap = self._loop.create_future(), trap

    async def name_victim(self, pid: int) -> None:
        self.line.victim.set_result(pid)

    async def sprung(self) -> None:
        await self.line.sprung.wait()


class Life(Home):
    """What ran and died while the providers went on."""

    cut_sends = "SELECT DISTINCT delivery_id FROM attempts WHERE answer IS NULL"

    def __init__(self, home: Path, town: Town, *, files: bool = False) -> None:
        super().__init__(home)
        self.town = town
        self.files = files

    def start(
        self,
        failpoint: str = "",
        *,
        grace: float = 0,
        reports: tuple[str, ...] = (),
        patience: float = 100,
    ) -> forks.Started:
        plan = {"kind": self.town.kind, "port": self.town.line.port}
        more = {"reports": reports, "patience": patience, "files": self.files}
        told = json.dumps({**plan, "grace": grace, **more})
        words = ("-m", channels_worker.__name__, str(self.home), told)
        return self.run(*words, failpoint=failpoint)

    def killed_at(self, failpoint: str, *, grace: float = 0) -> bool:
        return self.died(self.start(failpoint, grace=grace))

    def killed_on_the_line(self, trap: Trap, *, grace: float = 0) -> bool:
        """Get killed by the proxy, at an exact byte."""
        return self.died(self.watched(trap, grace=grace))

    def watched(self, trap: Trap, *, grace: float = 0, patience: float = 100) -> forks.Started:
        self.town.do(self.town.set_trap(trap))  # before anything can be on the line
        process = self.start(grace=grace, patience=patience)
        self.town.do(self.town.name_victim(process.pid))
        return process

    def lives_on(self, *, grace: float = 0, reports: tuple[str, ...] = ()) -> None:
        process = self.start(grace=grace, reports=reports)
        errors = ended(process)
        assert process.returncode == 0, errors

    # What history says --------------------------------------------------------------------------

    def parcels(self) -> list[tuple[str, str | None]]:
        """Return what the provider accepted, by the ids of the deliveries."""
        if self.town.kind != "telegram":
            return self.town.parcels()
        waiting = [(str(key), str(body).strip()) for key, body in self.ask(_BODIES)]
        found: list[tuple[str, str | None]] = []
        for text, to in self.town.parcels():
            # Of parts that read alike, they are sent in order.
            key = next(
                (key for key, body in waiting if body == text.strip()), "nobody asked for it"
            )
            waiting = [each for each in waiting if each[0] != key]
            found.append((key, to))
        return found

    def accepted(self) -> list[str]:
        return [key for key, _ in self.parcels()]

    def judge(self) -> None:
        """Check: nothing twice, nothing lost, and asked about exactly what is unknown."""
        doubtful = self.cut
        found = {str(key): str(status) for key, status in self.ask(_DELIVERIES)}
        accepted = Counter(self.accepted())
        assert set(accepted.values()) <= {1}
        assert accepted.keys() <= found.keys()
        assert {key for key, status in found.items() if status == "unknown"} == doubtful
        for key, status in found.items():
            assert accepted[key] == (status == "sent") or key in doubtful, (key, status)
        meant = {str(key): address for key, address in self.ask(_ADDRESSES)}
        for key, to in self.parcels():
            assert meant.get(key, to) == to, "it went to whom it was let go to"
        self._tasks(doubtful)
        self.check_journal()

    def _tasks(self, doubtful: set[str]) -> None:
        rows = self.ask(_TASKS)
        refs = {"file"} if self.files else set(channels_worker.REFS)
        assert {str(ref) for ref, *_ in rows} == refs
        asked = {str(about) for (about,) in self.ask(_ASKED)}
        assert asked <= doubtful
        for ref, status, reason, keys in rows:
            mine = set(str(keys).split(",")) & doubtful
            wanted = ("needs_review", "ambiguous") if mine else ("completed", None)
            assert (status, reason) == wanted, ref
            assert bool(mine & asked) == bool(mine), ref


def _attached(mail: EmailMessage) -> list[EmailMessage]:
    return cast("list[EmailMessage]", list(mail.iter_attachments()))


def _recipient(heard: Heard) -> str | None:
    data = heard.fields["data"]
    assert isinstance(data, dict)
    return str(data["recipient"]) if data["recipient"] is not None else None


_ASKED: Final = "SELECT about FROM reviews WHERE reason = 'ambiguous' AND decided_at IS NULL"
_ADDRESSES: Final = "SELECT id, address FROM deliveries WHERE address IS NOT NULL"
_BODIES: Final = "SELECT id, COALESCE(body, content) FROM deliveries ORDER BY id"
_DELIVERIES: Final = "SELECT id, status FROM deliveries"
_TASKS: Final = """
SELECT source_ref, tasks.status, tasks.reason, group_concat(deliveries.id)
  FROM tasks JOIN deliveries ON deliveries.task_id = tasks.id GROUP BY tasks.id
"""
