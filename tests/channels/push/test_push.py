"""Push, over real HTTP to a service on loopback: who is told, what, how often, and who is not."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.channels import push as pushing
from remit.channels.push import PushNotifier, push_client
from remit.delivery.notice_sender import FRESH, NoticeSender
from remit.errors import BadInput, Conflict
from remit.model.codec import Json
from remit.model.review import ReviewAnswer
from remit.model.task import Task
from remit.settings import NoticeSettings
from remit.store import callers, notices
from remit.store.callers import SignIn
from remit.testing import START, World, script
from tests.channels.push.push_relay import Phone, Relay, b64, relay, unb64
from tests.engine.rig import until
from tests.tables import for_each, table

ASKS: Final[list[Json]] = [
    {"when": "hopeless", "fail": "permanent"},
    {"ask": "Which passport do you hold?"},
]
SIGN_IN: Final = "sig-1"


@pytest.fixture
def there() -> Iterator[Relay]:
    with relay(int(START.timestamp())) as found:
        yield found
    assert found.wrongs == []


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path, brain=script(ASKS))


@asynccontextmanager
async def telling(
    world: World, wishes: NoticeSettings | None = None, *, private: bool = True
) -> AsyncIterator[NoticeSender]:
    """Browsers are told as long as this lasts; this machine counts as the net."""
    world.app.wishes.notices = wishes or NoticeSettings()
    told = NoticeSender(replace(world.app.herald._around, push=pusher(world, private=private)))
    told.start()
    try:
        await settled(world, told)
        yield told
    finally:
        await told.close()


def pusher(world: World, *, private: bool = True) -> PushNotifier:
    return PushNotifier(world.app.push._around, private=private)


async def signed_in(world: World, name: str = SIGN_IN, days: int = 30) -> None:
    until = world.now + timedelta(days=days)
    one = SignIn(id=name, created_at=world.now, expires_at=until)
    await world.app.db.write(callers.add_sign_in, one, name.encode())


@asynccontextmanager
async def listening(
    world: World, there: Relay, wishes: NoticeSettings | None = None, *, days: int = 30
) -> AsyncIterator[NoticeSender]:
    """An app whose owner has signed in by one browser, which listens."""
    async with world, telling(world, wishes) as told:
        await signed_in(world, days=days)
        await listens(world, there)
        yield told


async def asked(
    world: World, told: NoticeSender | None = None, text: str = "Renew my passport"
) -> Task:
    """Run a task of this text; what `told` tells of it is out then."""
    task = await world.add(text)
    await world.run()
    if told is not None:
        await settled(world, told)
    return task


async def listens(world: World, there: Relay, name: str = "one", sign_in: str = SIGN_IN) -> Phone:
    phone = Phone(name)
    await pusher(world).subscribe(sign_in, there.endpoint(phone), b64(phone.point), b64(phone.auth))
    return phone


async def settled(world: World, told: NoticeSender) -> None:
    """Return when all that happened was looked at and nothing is on its way."""
    await world.app.talk.settled()
    async with asyncio.timeout(100):
        # What is claimed is due no more, and a moment later on its way: in between is a round.
        while await world.app.db.read(notices.due, world.now) or told._turn.locked() or told._sends:
            told.ring()
            await asyncio.sleep(0.005)


async def kept(world: World) -> list[callers.PushSubscription]:
    return await world.app.db.read(callers.pushes, world.now)


# What is said -------------------------------------------------------------------------------------


async def test_a_question_is_told_to_the_browser_and_says_nothing_more(
    world: World, there: Relay
) -> None:
    async with listening(world, there) as told:
        await asked(world, told, "Renew my passport, number C01X00T47")
        (review,) = await world.waiting()
        (found,) = await kept(world)

        assert there.notes() == [
            {
                "title": "Remit",
                "body": "Remit needs you.",
                "href": f"/inbox/{review.id}",
                "tag": review.id,
            }
        ]
        headers = there.came[0].headers
        assert (headers["urgency"], headers["ttl"]) == ("high", "86400")
        assert str(review.id) not in json.dumps(dict(headers))
        assert (found.last_ok, found.failures) == (world.now, 0)


async def test_a_failure_is_told_and_what_is_done_is_not(world: World, there: Relay) -> None:
    async with listening(world, there) as told:
        await world.add("Say hello", content="Hello.")
        task = await asked(world, told, "Something hopeless")
        await until(lambda: len(there.came) == 1)

        (note,) = there.notes()
        assert (note["body"], note["href"]) == ("A task failed.", f"/tasks/{task.id}")
        assert there.came[0].headers["urgency"] == "normal"


async def test_the_title_is_told_if_the_owner_wants_it_cut_and_without_secrets(
    world: World, there: Relay
) -> None:
    async with listening(world, there, NoticeSettings(push="title")) as told:
        world.app.hide.learn("hunter2hunter2")
        await asked(world, told, "Renew with hunter2hunter2 the passport " + "of my aunt " * 9)

        (note,) = there.notes()
        assert str(note["body"]).startswith("Remit needs you: Renew with … the passport of")
        assert len(str(note["body"])) <= len("Remit needs you: ") + 60
        assert "hunter2" not in str(note)


async def test_many_at_once_are_one_notice(world: World, there: Relay) -> None:
    async with world:
        await signed_in(world)
        async with telling(world) as told:
            await listens(world, there)
        for n in range(6):
            await world.add(f"Renew passport {n}")
        await world.run()
        async with telling(world) as told:
            await settled(world, told)
            await until(lambda: len(there.came) == 1)

        (note,) = there.notes()
        assert (note["body"], note["href"]) == ("6 tasks need you.", "/inbox")


# To whom ------------------------------------------------------------------------------------------


async def test_nobody_is_told_who_did_not_ask(world: World, there: Relay) -> None:
    async with world, telling(world) as told:
        await signed_in(world)
        await asked(world, told)

        assert there.came == []
        assert not (world.app.settings.home / "secrets").exists()  # no key was needed


async def test_every_browser_is_told_until_its_sign_in_ends(world: World, there: Relay) -> None:
    async with world, telling(world) as told:
        for name in ("sig-1", "sig-2"):
            await signed_in(world, name)
            await listens(world, there, name, name)
        await world.app.db.write(callers.end_sign_in, "sig-2", world.now)
        await asked(world, told)

        assert [each.path for each in there.came] == ["/push/sig-1"]
        assert [each.sign_in for each in await kept(world)] == ["sig-1"]


async def test_a_sign_in_that_ran_out_is_told_nothing(world: World, there: Relay) -> None:
    async with listening(world, there, days=1) as told:
        await world.run(timedelta(days=1))
        await asked(world, told)

        assert there.came == []


@pytest.mark.parametrize("status", [404, 410])
async def test_a_browser_that_is_gone_is_forgotten(world: World, there: Relay, status: int) -> None:
    there.answers = [status]
    async with listening(world, there) as told:
        for _ in range(2):
            await asked(world, told)

        assert len(there.came) == 1
        assert await kept(world) == []


async def test_a_service_that_never_takes_anything_is_given_up(world: World, there: Relay) -> None:
    there.answers = [403] * 99
    async with listening(world, there) as told:
        for _ in range(callers.MOST_FAILURES + 2):
            await asked(world, told)
            await world.run(timedelta(minutes=1))  # many in a minute are one
            there.now = int(world.now.timestamp())

        assert len(there.came) == callers.MOST_FAILURES
        assert await kept(world) == []


# How often ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_busy_service_is_asked_again_later_and_not_for_ever(
    world: World, there: Relay, status: int
) -> None:
    there.answers = [status] * 99
    async with listening(world, there) as told:
        await asked(world)
        told.ring()
        for pause in pushing.RETRY_SECONDS:
            await _asleep(world, pause)
            there.now = int(world.now.timestamp()) + int(pause)
            await world.run(timedelta(seconds=pause))
        await settled(world, told)
        await world.run(timedelta(minutes=60))
        await settled(world, told)

        assert len(there.came) == len(pushing.RETRY_SECONDS) + 1
        assert [each.failures for each in await kept(world)] == [1]


async def test_what_was_decided_meanwhile_is_not_told_again(world: World, there: Relay) -> None:
    there.answers = [503]
    async with listening(world, there) as told:
        await asked(world)
        told.ring()
        await until(lambda: len(there.came) == 1)
        await _asleep(world, pushing.RETRY_SECONDS[0])
        (review,) = await world.waiting()
        await world.decide(review, ReviewAnswer.DECLINE)
        await world.run(timedelta(seconds=pushing.RETRY_SECONDS[0]))
        await settled(world, told)

        assert len(there.came) == 1


async def _asleep(world: World, seconds: float) -> None:
    """Return when somebody waits for that long."""
    at = world.now + timedelta(seconds=seconds)
    await until(lambda: any(due == at for due, _ in world.clock._sleepers))


async def test_a_restart_repeats_nothing(world: World, there: Relay) -> None:
    async with world:
        async with telling(world) as told:
            await signed_in(world)
            await listens(world, there)
            await asked(world, told)
        for _ in range(2):
            await world.restart()
            async with telling(world) as told:
                await settled(world, told)

        assert len(there.came) == 1
        assert len(there.keys) == 1  # and the key is the same one


async def test_a_start_says_what_was_just_missed_and_nothing_old(
    world: World, there: Relay
) -> None:
    async with world:
        await signed_in(world)
        async with telling(world) as told:
            await listens(world, there)
        await world.add("An old matter")
        await world.run(FRESH + timedelta(seconds=1))
        await asked(world, text="A new matter")
        async with telling(world, NoticeSettings(push="title")) as told:
            await settled(world, told)
            await until(lambda: len(there.came) == 1)

        assert [note["body"] for note in there.notes()] == ["Remit needs you: A new matter"]


async def test_a_browser_is_told_nothing_that_happened_before_it_asked(
    world: World, there: Relay
) -> None:
    async with world:
        await signed_in(world)
        await world.add("Renew my passport")
        await world.run(timedelta(seconds=1))
        await listens(world, there)
        async with telling(world) as told:
            await settled(world, told)

        assert there.came == []


# Where it may go ----------------------------------------------------------------------------------


@pytest.mark.parametrize("endpoint", table(__file__, "inside"))
async def test_an_address_inside_is_refused(world: World, endpoint: str) -> None:
    phone = Phone()
    async with world:
        await signed_in(world)
        with pytest.raises(BadInput, match="endpoint"):
            await world.app.push.subscribe(SIGN_IN, endpoint, b64(phone.point), b64(phone.auth))
        assert await kept(world) == []


async def test_an_address_inside_is_not_spoken_to_even_if_it_was_kept(
    world: World, there: Relay
) -> None:
    async with world:
        await signed_in(world)
        await listens(world, there)
        async with telling(world, private=False) as strict:
            await asked(world, strict)

        assert there.came == []
        assert [each.failures for each in await kept(world)] == [1]


# Without the extra --------------------------------------------------------------------------------


async def test_without_the_extra_it_says_how_to_get_it(world: World) -> None:
    async with world:
        without = PushNotifier(world.app.push._around, there=False)
        for asked_for in (
            without.public_key(),
            without.subscribe(SIGN_IN, "https://push.example.org/1", "", ""),
        ):
            with pytest.raises(Conflict, match=r"pip install 'remit\[push\]'"):
                await asked_for


# Sealed as RFC 8291 says --------------------------------------------------------------------------

# RFC 8291, section 5 and appendix A.
TEXT: Final = b"When I grow up, I want to be a watermelon"
SENDER: Final = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
RECEIVER: Final = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
POINT: Final = (
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
)
AUTH: Final = "BTBZMqHH6r4Tts7J_aSIgg"
SALT: Final = "DGv6ra1nlYgDCS1FRnbzlw"
BODY: Final = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS"
    "6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qu"
    "lcy4a-fN"
)


def test_the_example_of_the_standard_comes_out_to_the_byte() -> None:
    once = ec.derive_private_key(int.from_bytes(unb64(SENDER)), ec.SECP256R1())
    made = push_client.encrypt_with(once, unb64(SALT), TEXT, (POINT, AUTH), 0)

    assert b64(made) == BODY


def test_the_receiver_of_these_tests_opens_the_example_of_the_standard() -> None:
    phone = Phone(private=unb64(RECEIVER), auth=unb64(AUTH))

    assert b64(phone.point) == POINT
    assert phone.opened(unb64(BODY)) == TEXT


@given(st.binary(max_size=push_client.PADDED_BYTES))
def test_any_text_arrives_and_none_shows_its_length(text: bytes) -> None:
    phone = Phone()
    body = push_client.encrypt(text, b64(phone.point), b64(phone.auth))

    assert phone.opened(body) == text
    assert len(body) == len(push_client.encrypt(b"", b64(phone.point), b64(phone.auth)))


def test_no_other_browser_opens_it_and_no_two_are_alike() -> None:
    phone = Phone()
    one, two = (push_client.encrypt(TEXT, b64(phone.point), b64(phone.auth)) for _ in range(2))

    assert one != two
    with pytest.raises(InvalidTag):
        Phone().opened(one)


@for_each(
    ("p256dh", "auth", "field"),
    [
        ("", AUTH, "p256dh"),
        ("BA", AUTH, "p256dh"),
        ("?" * 87, AUTH, "p256dh"),
        (b64(b"\4" + bytes(64)), AUTH, "p256dh"),  # on no curve
        (POINT, "AA", "auth"),
        (POINT, "ä", "auth"),
    ],
)
def test_keys_that_are_none_are_refused(p256dh: str, auth: str, field: str) -> None:
    with pytest.raises(BadInput) as refused:
        push_client.check(p256dh, auth)

    assert refused.value.field == field


def test_a_new_key_is_its_own_and_names_one_public_half() -> None:
    one, two = push_client.new_key(), push_client.new_key()

    assert one != two
    assert push_client.public_of(one) == push_client.public_of(one)
    push_client.check(push_client.public_of(one), AUTH)
