"""WhatsApp through a bridge: a program of the operator with a linked device, over HTTP.

    POST {url}/messages  {"to": "41433650172129@lid", "text": "…", "id": "dlv-…"}
    2xx {"id": "3EB0…"}                          it was sent
    409 {"id": "3EB0…"}                          this id was sent before (if it knows ids)
    4xx {"error": "…"}                           it was not sent

A bridge that sends under the given id recognises a message: the same id twice is one message. One
that assigns its own ids cannot look one up; the delivery stays unknown.
"""

import re
from datetime import datetime
from http import HTTPStatus
from typing import Final

from remit.channels import ChannelContext
from remit.channels.parts import SendRate
from remit.channels.whatsapp import BridgeLink
from remit.channels.whatsapp.sending import MAX_CHARACTERS, SEND_SECONDS, WhatsAppMessages, digits
from remit.errors import BadInput
from remit.model.delivery import Accepted, Answer, Locked, Parcel, Refused, SendGuarantee, SendRetry
from remit.ports import Clock
from remit.store.spending import Rates
from remit.system import http_client
from remit.system.http_client import HttpFailure, HttpReply, Token

# A person's number or hidden id. A group is many people, none of whom was asked for.
_ADDRESS: Final = re.compile(r"[1-9][0-9]{6,19}(?:@(?:lid|s\.whatsapp\.net|c\.us))?")
_URL: Final = re.compile(r"https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~-]+)*")
_KEY: Final = re.compile(r"[\x21-\x7e]{1,200}")
_GRACE: Final = 60.0  # seconds after which a bridge that knows ids is asked again


def build(section: BridgeLink, context: ChannelContext) -> "BridgeChannel":
    token, rates = context.keys.token(section.token), Rates(context.db)
    return BridgeChannel(section, token, context.clock, name=context.name, rates=rates)


class BridgeChannel(WhatsAppMessages):
    """Sends by a bridge. The token may be empty: a bridge on this machine needs none."""

    def __init__(
        self,
        link: BridgeLink,
        token: Token,
        clock: Clock,
        *,
        name: str = "whatsapp",
        patience: float = SEND_SECONDS,
        rates: Rates | None = None,
    ) -> None:
        if not _URL.fullmatch(link.url):
            raise BadInput(
                f"The bridge's address {link.url!r:.60} must be http or https with a host and a "
                "path, without a name, a query or a slash at the end.",
                field="url",
            )
        if link.owner and not _ADDRESS.fullmatch(digits(link.owner)):
            raise BadInput(_no_address(link.owner), field="owner")
        super().__init__(name, link.url, link.owner, clock)
        self.keeps: Final = SendGuarantee.KEY if link.knows_ids else SendGuarantee.NOTHING
        self.grace: Final = _GRACE if link.knows_ids else 0.0
        self._link = link
        self._token = http_client.hidden(token)
        self._patience = patience
        # A linked device that writes faster is taken for a machine.
        self._pace = SendRate(overall=1, name=name, rates=rates)

    def takes(self, address: str) -> bool:
        return _ADDRESS.fullmatch(digits(address)) is not None

    async def send(self, parcel: Parcel) -> Answer:
        """Send the body as it is; never wait, never retry."""
        return await self._give(parcel, paced=True)

    async def _give(self, parcel: Parcel, *, paced: bool) -> Answer:
        to = self._recipient(parcel)
        wrong = _wrong(parcel, to)
        if wrong is not None or to is None:
            return Refused(wrong or "The owner has no address on the bridge. Name one.")
        try:
            token = self._token()
        except Exception as error:  # noqa: BLE001 - no byte has left, and that must not be in doubt
            return SendRetry(f"The bridge cannot be used at the moment ({type(error).__name__}).")
        if token and not http_client.is_header_safe(token):
            return Locked("The token of the bridge is no token at all. Set it anew.")
        now = self._clock.now()
        wait = await self._pace.take(to, parcel.key, now)
        if wait > 0 and paced:
            why = "It is too soon for the next message by the bridge."
            return SendRetry(why, wait, spends=False)
        fields = {"to": to, "text": parcel.body, "id": parcel.key}
        url = f"{self._link.url}/messages"
        reply = await http_client.post(self._client, url, token, fields, self._patience)
        return _answer(reply, token, now, knows_ids=self._link.knows_ids)

    async def find(self, parcel: Parcel) -> Accepted | None:
        """Look up a message. A bridge that knows ids is asked by sending it again under its id.

        Either it has it, or it sends it now: one id is one message. A no concerns only this
        attempt; the unknown one may have arrived. The send rate does not apply, because the unknown
        send was counted already.
        """
        answer = await self._give(parcel, paced=False) if self._link.knows_ids else None
        return answer if isinstance(answer, Accepted) else None


def _no_address(text: str) -> str:
    return (
        f"{text!r:.60} is no address for the bridge. "
        "Write the number in digits alone, or an id like 41433650172129@lid; no group is sent to."
    )


def _wrong(parcel: Parcel, to: str | None) -> str | None:
    if to is not None and not _ADDRESS.fullmatch(to):
        return _no_address(to)
    if not _KEY.fullmatch(parcel.key):
        return "The key of a delivery must have 1 to 200 plain characters."
    return http_client.unfit(parcel.body, MAX_CHARACTERS)


def _answer(
    reply: HttpReply | HttpFailure, token: str, now: datetime, *, knows_ids: bool
) -> Answer:
    fields = http_client.fields_of(reply.body if isinstance(reply, HttpReply) else None)
    if knows_ids and isinstance(reply, HttpReply) and reply.status == HTTPStatus.CONFLICT:
        reply = HttpReply(HTTPStatus.OK, "", reply.body)  # it was sent before, under this id
    answer = http_client.answer_with_id(reply, "The bridge", now, fields.get("id"))
    error = http_client.clean(fields.get("error"), token)
    refused = isinstance(answer, Refused) and error
    return Refused(f"The bridge refused: {error}.") if refused else answer
