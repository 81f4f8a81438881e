"""The Apprise channel: over a hundred services, each by an address that the operator named.

A parcel names a target, never an address. One target is one address of one person or room. Apprise
runs in a separate process, `worker`, which gets everything on stdin: a plugin that hangs can be
killed, its output is ignored, and the network rules apply there only. Apprise reports only that
something failed. So the worker watches the connections: before the first byte nothing was sent,
after it the result is unknown.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qsl

from remit.channels import ChannelContext
from remit.channels.apprise import AppriseTargets
from remit.language.files import read_toml
from remit.model.delivery import (
    Accepted,
    Answer,
    Locked,
    Parcel,
    Refused,
    SendGuarantee,
    SendRetry,
    Unknown,
)
from remit.system import first_byte, http_client
from remit.system.http_client import Token
from remit.system.process import ask_worker

SEND_SECONDS: Final = 60.0
MAX_CHARACTERS: Final = 2000  # what most services accept; the worker knows the exact limit
SENDING: Final = b"sending\n"
_MAX_PROCESSES: Final = 2  # each is a process of 60 MB
_BUSY_SECONDS: Final = 5.0
_MAX_REPORT_BYTES: Final = 65_536
_WORKER: Final = (sys.executable, "-I", "-m", "remit.channels.apprise.worker")

_ADDRESS: Final = re.compile(r"([a-z][a-z0-9]{1,19})://[\x21-\x7e]{1,2000}")
_WHOLE: Final = "An address of Apprise looks like slack://… or tgram://…, in plain characters."
_SERVICES: Final = read_toml("services", "remit.channels.apprise")
_CLOSED: Final = {
    service: why
    for services, _, why in (line.partition(": ") for line in _SERVICES["closed"])
    for service in services.split()
}
_KEYS: Final = frozenset(_SERVICES["parameters"])


def build(section: AppriseTargets, context: ChannelContext) -> "AppriseChannel":
    addresses = {name: context.keys.token(str(each)) for name, each in section.targets.items()}
    owner = section.owner or None
    return AppriseChannel(addresses, owner=owner, private=section.private, name=context.name)


class AppriseChannel:
    """Sends to addresses by their names; an address has keys in it, so it is a secret."""

    keeps: Final = SendGuarantee.NOTHING
    guidance: Final = "Short plain text without Markdown: it is read as a notification."

    def __init__(  # noqa: PLR0913 - each is handed in by name
        self,
        addresses: Mapping[str, Token],
        *,
        owner: str | None = None,
        private: bool = False,  # they may lie in the operator's own network
        name: str = "apprise",
        most: int = MAX_CHARACTERS,
        patience: float = SEND_SECONDS,
        worker: Sequence[str] = _WORKER,
    ) -> None:
        self.name: Final = name
        self.most: Final = most
        self._addresses = {name: http_client.hidden(each) for name, each in addresses.items()}
        self._private = private
        self._owner = owner
        self._patience = patience
        self._worker = worker
        self._processes = 0

    @property
    def knows_owner(self) -> bool:
        return self._owner is not None

    def takes(self, address: str) -> bool:
        return address in self._addresses

    async def send(self, parcel: Parcel) -> Answer:  # noqa: PLR0911 - each is another reason
        """Send the body as it is, once; never wait, never retry."""
        name = parcel.recipient if parcel.recipient is not None else self._owner
        address_of = self._addresses.get(name or "")
        wrong = http_client.unfit(parcel.body, self.most)
        if address_of is None or wrong is not None:
            return Refused(wrong or self._explain_unknown_target(name))
        try:
            address = address_of()
        except Exception as error:  # noqa: BLE001 - no byte has left, and that must not be in doubt
            return SendRetry(f"The address of {name} cannot be read ({type(error).__name__}).")
        bad = complaint(address) if address else None
        if bad is not None:
            return Refused(f"The target {name} cannot be used. {bad}")
        if not address:
            return Locked(f"The address of the target {name} is missing. Set it.")
        if self._processes >= _MAX_PROCESSES:
            return SendRetry("Apprise is busy with other messages.", _BUSY_SECONDS, spends=False)
        order = {
            "address": address,
            "body": parcel.body,
            "private": self._private,
            "until": first_byte.deadline(),
        }
        self._processes += 1
        try:
            report = await _work(self._worker, json.dumps(order).encode(), self._patience)
        finally:
            self._processes -= 1
        return _answer(report, parcel.key)

    def _explain_unknown_target(self, name: str | None) -> str:
        known = ", ".join(sorted(self._addresses)) or "none"
        if name is None:
            return f"The owner has no target here. Name one of: {known}."
        return f"There is no target {name!r:.60}; the operator named: {known}."


def complaint(address: str) -> str | None:
    """Return what is wrong with an address, in a sentence that does not repeat it."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return _WHOLE
    if found[1] in _CLOSED:
        return f"{found[1]}:// {_CLOSED[found[1]]}."
    _, _, query = address.partition("?")
    # Programs split a query differently at other characters; only & is unambiguous.
    if any(sign in query for sign in "?;#"):
        return "The query of its address may hold no ?, ; or #."
    for key, _ in parse_qsl(query, keep_blank_values=True):
        if not key[:1].isalpha() or key.strip().lower() in _KEYS:
            return f"Its address may not say {key!r:.30}: it names a service and one target alone."
    return None


@dataclass(frozen=True, slots=True)
class AppriseReport:
    """The worker's report. `began`: whether Apprise was started."""

    began: bool
    ended: str  # how the worker ended, if it did not report
    said: Mapping[str, object] = field(default_factory=dict)


async def _work(worker: Sequence[str], order: bytes, seconds: float) -> AppriseReport:
    try:
        answer = await ask_worker(worker, order, seconds, _MAX_REPORT_BYTES, {"NO_PROXY": "*"})
    except OSError as error:
        return AppriseReport(began=False, ended=f"it could not be started: {type(error).__name__}")
    began = answer.output.startswith(SENDING)
    ended = "it broke off" if answer.in_time else f"no answer within {seconds:g} s"
    return AppriseReport(began, ended, http_client.fields_of(answer.output.removeprefix(SENDING)))


def _answer(report: AppriseReport, key: str) -> Answer:
    fields = report.said
    if fields.get("lacks"):
        return Locked("Apprise is not installed. Install remit[apprise] and start again.")
    wrong = fields.get("wrong")
    if isinstance(wrong, str):
        return Refused(wrong)
    if not fields:
        why = f"Apprise did not report ({report.ended})."
        return Unknown(why) if report.began else SendRetry(why)
    trail = fields.get("trail")
    seen = [each for each in trail if isinstance(each, int)] if isinstance(trail, list) else []
    if fields.get("sent") is True:
        return Accepted(key) if any(map(_is_yes, seen)) else Unknown(_UNSEEN)
    return _answer_of_failure(seen, fields.get("barred"))


def _answer_of_failure(seen: Sequence[int], barred: object) -> Answer:
    """Return what a failure means, by the statuses: 0: no byte was sent, -1: no answer came."""
    if any(_is_yes(status) or not 0 <= status < _SERVER_ERROR for status in seen):
        return Unknown("Apprise says that it failed, but a part of it may have arrived.")
    if isinstance(barred, str):
        return Refused(barred)
    left = [status for status in seen if status]
    if left:
        return _answer_of_refusal(left[-1])
    return SendRetry("The service cannot be reached.") if seen else Refused(_NOTHING)


def _answer_of_refusal(status: int) -> Answer:
    match status:
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return Locked(f"The service does not take the keys ({status}). Renew them.")
        case HTTPStatus.REQUEST_TIMEOUT | HTTPStatus.TOO_EARLY | HTTPStatus.TOO_MANY_REQUESTS:
            return SendRetry(f"The service asks for patience ({status}).")
        case _:
            return Refused(f"The service refused the message ({status}).")


def _is_yes(status: int) -> bool:
    return status // 100 == 2  # noqa: PLR2004 - as the codes are grouped


_SERVER_ERROR: Final = 500
_UNSEEN: Final = "Apprise says that it was sent, but no service was heard to say yes."
_NOTHING: Final = "Apprise sent nothing and gave no reason. Look at the target's address."
