"""Apprise: to named targets alone, once, and what is said of it was seen on the wire."""

import asyncio
import json
import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.channels.apprise.sending import _KEYS, AppriseChannel, complaint
from remit.model.delivery import Accepted, Answer, Locked, Parcel, Refused, SendRetry, Unknown
from remit.system import first_byte
from tests.channels.whatsapp.whatsapp import Cut, Heard, Loopback, Order
from tests.engine.rig import until
from tests.live.loopback import HOST, FunctionListener
from tests.ports import free_port
from tests.soak import one_in
from tests.specialist.repository import time_is_up_on_call
from tests.tables import for_each, table

CANARY: Final = "tk_c4nary0fthehouse83f1aa29b4d77"
PARCEL: Final = Parcel("dlv-01JZ", None, "**Two** parks, <mornings> & _evenings_. שלום 🌳")
SLACK: Final = f"ntfys://{CANARY}@ntfy.example.com/parks"
# The worker as it is, but with the packages of whoever runs the tests.
_START: Final = f"""
import sys
sys.path[:] = {sys.path!r}
from remit.channels.apprise.worker import main
main()
"""
WORKER: Final = (sys.executable, "-c", _START)


def channel(
    address: str = SLACK,
    *,
    private: bool = False,
    worker: Sequence[str] = WORKER,
    patience: float = 100.0,
) -> AppriseChannel:
    return AppriseChannel(
        {"parks": lambda: address}, owner="parks", private=private, patience=patience, worker=worker
    )


def acted(script: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", script)


def played(*lines: str, then: str = "") -> tuple[str, ...]:
    """A worker that only plays: it reads its order, says these lines and ends as told."""
    said = chr(10).join(lines)
    script = f"import sys, os, time; sys.stdin.buffer.read(); sys.stdout.write({said!r})"
    return acted(f"{script}\nsys.stdout.flush()\n{then}")


DIES: Final = "os.abort()"
HANGS: Final = "time.sleep(600)"
FLOODS: Final = "sys.stdout.write('x' * 300_000)"


def report(**fields: object) -> tuple[str, ...]:
    return ("sending", json.dumps(fields))


# What is said of what was seen --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    worker: tuple[str, ...]
    answer: type[Answer]
    patience: float = 100.0


SHORT: Final = 0.5
TABLE: Final = {
    "sent": Row(played(*report(sent=True, trail=[200])), Accepted),
    "sent after a login": Row(played(*report(sent=True, trail=[200, 201])), Accepted),
    "sent, it says, unseen": Row(played(*report(sent=True, trail=[])), Unknown),
    "sent, it says, to a 302": Row(played(*report(sent=True, trail=[302])), Unknown),
    "400": Row(played(*report(sent=False, trail=[400])), Refused),
    "redirect": Row(played(*report(sent=False, trail=[302])), Refused),
    "401": Row(played(*report(sent=False, trail=[401])), Locked),
    "403": Row(played(*report(sent=False, trail=[403])), Locked),
    "429": Row(played(*report(sent=False, trail=[429])), SendRetry),
    "500": Row(played(*report(sent=False, trail=[500])), Unknown),
    "no answer": Row(played(*report(sent=False, trail=[-1])), Unknown),
    "half of it": Row(played(*report(sent=False, trail=[200, 400])), Unknown),
    "unreachable": Row(played(*report(sent=False, trail=[0])), SendRetry),
    "unreachable, then refused": Row(played(*report(sent=False, trail=[0, 400])), Refused),
    "barred": Row(played(*report(sent=False, trail=[0], barred="It is private.")), Refused),
    "barred after a byte": Row(
        played(*report(sent=False, trail=[-1, 0], barred="It is private.")), Unknown
    ),
    "nothing tried": Row(played(*report(sent=False, trail=[])), Refused),
    "not installed": Row(played(json.dumps({"lacks": True})), Locked),
    "not readable": Row(played(json.dumps({"wrong": "It has two targets."})), Refused),
    "died at once": Row(played(then=DIES), SendRetry),
    "died while sending": Row(played("sending", "", then=DIES), Unknown),
    "half a report": Row(played("sending", '{"sent": tr'), Unknown),
    "a report of nothing": Row(played("sending", "[]"), Unknown),
    "hangs before": Row(played(then=HANGS), SendRetry, SHORT),
    "hangs while sending": Row(played("sending", "", then=HANGS), Unknown, 6.0),
    "floods": Row(played("sending", "", then=FLOODS), Unknown),
    "no such program": Row(("remit-has-no-such-program",), SendRetry),
}


@one_in(3)
@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)
async def test_the_answer_says_no_more_than_was_seen_and_no_secret(
    row: Row, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    made = channel(worker=row.worker, patience=row.patience)
    answer = await made.send(PARCEL)

    assert type(answer) is row.answer
    assert CANARY not in f"{answer!r} {made!r} {made._addresses!r} {caplog.text}"
    if isinstance(answer, Accepted):
        assert answer.ref == PARCEL.key
    else:
        assert answer.why.endswith(".")


async def test_no_worker_outlives_who_waited_for_it() -> None:
    came, gone = asyncio.Event(), asyncio.Event()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.set()
        await reader.read()  # until the other side is no more
        gone.set()

    async with FunctionListener(hear) as server:
        where = (HOST, server.port)
        worker = acted(f"import socket; socket.create_connection({where!r}).recv(1)")
        sending = asyncio.create_task(channel(worker=worker).send(PARCEL))
        await came.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await gone.wait()


async def test_without_the_extra_it_says_what_to_install() -> None:
    script = _START.replace("import sys", "import sys; sys.modules['apprise'] = None", 1)

    answer = await channel(worker=(sys.executable, "-c", script)).send(PARCEL)

    assert type(answer) is Locked
    assert "remit[apprise]" in answer.why


async def test_the_worker_that_ships_can_be_started() -> None:
    made = AppriseChannel({"a": lambda: "nosuchservice://x/y"}, owner="a")

    # It lacks Apprise, or Apprise has no such service; either way it was there and said so.
    assert isinstance(await made.send(PARCEL), Refused | Locked)


async def test_more_than_two_at_once_are_asked_to_come_back() -> None:
    busy = channel(worker=played(then=HANGS), patience=SHORT)

    answers = await asyncio.gather(*(busy.send(PARCEL) for _ in range(4)))

    waits = [each.after for each in answers if isinstance(each, SendRetry)]
    assert sorted(waits, key=str) == [5.0, 5.0, None, None]
    assert busy._processes == 0


# Where it may go ----------------------------------------------------------------------------------

NEVER: Final = played(*report(sent=True, trail=[200]))  # if it is asked at all, it says yes


@for_each("name", ["", "Parks", "nobody", SLACK, "json://127.0.0.1/x", "parks "])
async def test_only_a_target_that_the_operator_named_is_sent_to(name: str) -> None:
    answer = await channel(worker=NEVER).send(Parcel("dlv-1", name, "Hello."))

    assert type(answer) is Refused
    assert "parks" in answer.why


async def test_an_owner_without_a_target_is_not_guessed() -> None:
    made = AppriseChannel({"parks": lambda: SLACK}, worker=NEVER)

    assert type(await made.send(PARCEL)) is Refused
    assert type(await made.send(Parcel("dlv-1", "parks", "Hello."))) is Accepted


@for_each("address", table(__file__, "refused_addresses"))
async def test_an_address_that_says_more_than_one_service_and_target_is_refused(
    address: str,
) -> None:
    answer = await channel(address, worker=NEVER).send(PARCEL)

    assert type(answer) is Refused
    assert "/etc/hostname" not in answer.why
    assert "pw" not in answer.why


@for_each(
    "address",
    [
        SLACK,
        "tgram://123456789:AAbbccddeeff/12315544/",
        "slack://TokenA/TokenB/TokenC/#general",
        "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js?footer=no&format=markdown",
        "pover://user@token?priority=high",
    ],
)
def test_a_plain_address_is_let_through(address: str) -> None:
    assert complaint(address) is None


@given(st.sampled_from(sorted(_KEYS)), st.sampled_from(["", "x=1&"]), st.text(max_size=5))
def test_no_key_that_is_closed_gets_through(key: str, before: str, value: str) -> None:
    spelt = "".join(f"%{ord(sign):02x}" for sign in key)
    for name in (key, key.upper(), spelt, f"{key}%20"):
        assert complaint(f"ntfys://host/a?{before}{name}={value}") is not None


async def test_an_address_that_cannot_be_read_now_is_asked_for_again_later() -> None:
    def locked() -> str:
        raise OSError(f"locked, with {CANARY}")

    answer = await AppriseChannel({"a": locked}, owner="a", worker=NEVER).send(PARCEL)

    assert type(answer) is SendRetry
    assert CANARY not in answer.why


@for_each("body", ["", " \n", "x" * 2001, "half \ud800"])
async def test_a_text_that_does_not_fit_is_refused_unsent(body: str) -> None:
    assert type(await channel(worker=NEVER).send(Parcel("dlv-1", None, body))) is Refused


async def test_the_order_goes_by_stdin_and_not_by_the_command_or_the_environment(
    tmp_path: Path,
) -> None:
    seen = tmp_path / "seen"
    script = (
        "import json, os, pathlib, sys; order = json.loads(sys.stdin.buffer.read())\n"
        f"told = [sys.argv, dict(os.environ), order]\npathlib.Path({str(seen)!r})"
        ".write_text(json.dumps(told))\nprint('{}')"
    )
    await channel(worker=acted(script)).send(PARCEL)

    argv, environ, order = json.loads(seen.read_text())
    told = {"address": SLACK, "body": PARCEL.body, "private": False, "until": None}
    assert order == told
    assert CANARY not in json.dumps(argv) + json.dumps(environ)
    assert set(environ) <= {"NO_PROXY", "LC_CTYPE", "COVERAGE_PROCESS_CONFIG"}


# With Apprise itself ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Note:
    topic: str
    text: str


class Ntfy(Loopback):
    """A server of ntfy's, as far as a note needs it."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[Note] = []

    def answer(self, heard: Heard, order: Order) -> tuple[int, bytes]:
        if order.accepts:
            self.notes.append(Note(str(heard.fields["topic"]), str(heard.fields["message"])))
        return order.status, order.body or b'{"id": "x", "event": "message"}'

    @property
    def address(self) -> str:
        return f"ntfy://{CANARY}@{self.root.removeprefix('http://')}/parks"


@dataclass(frozen=True, slots=True)
class Real:
    order: Order
    answer: type[Answer]
    notes: int


REAL: Final = {
    "good": Real(Order(), Accepted, 1),
    "refused": Real(Order(status=400), Refused, 0),
    "token": Real(Order(status=401), Locked, 0),
    "429": Real(Order(status=429), SendRetry, 0),
    "500 after it took it": Real(Order(status=500, accept=True), Unknown, 1),
    "redirect": Real(Order(status=307, headers={"location": "/elsewhere"}), Refused, 0),
    "reset in the request": Real(Order(cut=Cut.IN_REQUEST), Unknown, 0),
    "reset after it took it": Real(Order(cut=Cut.BEFORE_ANSWER, accept=True), Unknown, 1),
}


@one_in(3)
@pytest.mark.slow
@pytest.mark.parametrize("row", REAL.values(), ids=REAL)
async def test_the_real_apprise_sends_once_and_its_answer_is_true(row: Real) -> None:
    async with Ntfy() as server:
        server.orders = [row.order]
        made = channel(server.address, private=True)

        answer = await made.send(PARCEL)

        assert type(answer) is row.answer, answer
        assert len(server.heard) == (row.order.cut is not Cut.IN_REQUEST)
        assert server.notes == [Note("parks", PARCEL.body)] * row.notes


@pytest.mark.slow
async def test_where_a_black_hole_took_it_the_real_apprise_is_in_doubt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    up = time_is_up_on_call(monkeypatch, "remit.system.process.timeout")
    async with Ntfy() as server:
        server.orders = [Order(silent=True, accept=True)]
        sending = asyncio.create_task(channel(server.address, private=True).send(PARCEL))
        await until(lambda: bool(server.notes))
        up()

        assert type(await sending) is Unknown
        assert len(server.heard) == 1
        assert server.notes == [Note("parks", PARCEL.body)]


@pytest.mark.slow
async def test_the_real_apprise_does_not_reach_inside_or_into_the_open() -> None:
    async with Ntfy() as server:
        port = server.root.rpartition(":")[2]
        barred = [
            await channel(address).send(PARCEL)
            for address in (
                server.address,  # without TLS
                f"ntfys://127.0.0.1:{port}/parks",
                f"ntfys://localhost:{port}/parks",
                f"ntfys://2130706433:{port}/parks",
                "ntfys://[::1]/parks",
            )
        ]

        assert server.heard == []
    assert [type(each) for each in barred] == [Refused] * 5


@pytest.mark.slow
async def test_the_real_apprise_takes_one_target_and_a_text_that_fits() -> None:
    async with Ntfy() as server:
        two = await channel(f"{server.address}/more", private=True).send(PARCEL)
        none = await channel("nosuchservice://x/y").send(PARCEL)
        address = {"a": lambda: server.address}
        wide = AppriseChannel(address, owner="a", private=True, most=100_000, worker=WORKER)
        long = await wide.send(Parcel("dlv-1", None, "x" * 7801))

        assert server.heard == []
    assert [type(each) for each in (two, none, long)] == [Refused] * 3
    assert "2 targets" in str(two)
    assert "7800" in str(long)


@pytest.mark.slow
async def test_where_nobody_listens_the_real_apprise_has_sent_nothing() -> None:
    made = channel(f"ntfy://{CANARY}@127.0.0.1:{free_port()}/parks", private=True)

    assert type(await made.send(PARCEL)) is SendRetry


@pytest.mark.slow
async def test_the_real_apprise_has_a_star_read_as_a_star() -> None:
    async with Ntfy() as server:
        made = channel(f"{server.address}?format=markdown", private=True)

        assert type(await made.send(PARCEL)) is Accepted
        assert r"\*\*Two\*\*" in server.notes[0].text  # else the service would make it bold


@for_each(("left", "answer"), [(600.0, Accepted), (-1.0, SendRetry)])
async def test_a_claim_that_is_too_old_begins_no_request(left: float, answer: type[Answer]) -> None:
    async with Ntfy() as server:
        with first_byte.within(left):
            said = await channel(server.address, private=True).send(PARCEL)

    assert isinstance(said, answer)
    assert len(server.heard) == (answer is Accepted)
