"""A model as a brain, over real HTTP: what is sent, read, filled in, never followed, stopped."""

import asyncio
import contextlib
import json
from dataclasses import dataclass

import pytest

from remit import gate
from remit.brain import choose
from remit.brain.choose import FilledForm, ModelRole
from remit.brain.models import ModelBrain
from remit.errors import Permanent, StoreFull, Transient
from remit.model.reply import Deliverable, Prompt, Reply, Usage
from remit.model.status import Reason
from tests.live.faults import GOOD
from tests.live.place import KEY, Place, brain, brain_settings, choice, say, warm
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer, Call, End
from tests.soak import each_value

pytestmark = each_value

PLACES = pytest.mark.parametrize("place", Place)
STREAMED = pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
POLYGLOT = (
    "¿Qué? 日本語、العربية, emoji 👩‍👩‍👧, code `a < b`\n<deliverable>Ünïcödé ✓ 👋</deliverable>\n"
)


class Pieces(list[str]):
    """What was heard while the answer was on its way."""

    async def hear(self, piece: str) -> None:
        self.append(piece)


# The way of an answer -----------------------------------------------------------------------------


@PLACES
@STREAMED
async def test_an_answer_arrives_to_the_letter(place: Place, *, streams: bool) -> None:
    pieces = Pieces()
    async with Vendor() as vendor, brain(vendor, place) as mind:
        vendor.orders = [Order(Answer(POLYGLOT))]

        reply = await say(mind, Prompt("Hi"), pieces.hear if streams else None)

    assert reply == Reply(POLYGLOT, usage=Usage(30, 0, 1, 30, 20, 10), state=reply.state)
    assert gate.judge(reply, most=4096) == Deliverable("Ünïcödé ✓ 👋")
    assert "".join(pieces) == (POLYGLOT if streams else "")
    assert len(pieces) > 1 or not streams


@PLACES
@STREAMED
async def test_half_a_character_does_no_harm(place: Place, *, streams: bool) -> None:
    pieces = Pieces()
    async with Vendor() as vendor, brain(vendor, place) as mind:
        vendor.orders = [Order(Answer("\ud83d or \udc00, " + GOOD))]

        reply = await say(mind, Prompt("Hi"), pieces.hear if streams else None)

    for text in (reply.text, reply.state, *pieces):
        assert text.encode()
    assert reply.text == "\ufffd or \ufffd, " + GOOD


@PLACES
async def test_a_stream_that_just_stops_is_no_answer(place: Place) -> None:
    pieces = Pieces()
    async with Vendor() as vendor, brain(vendor, place) as mind:
        vendor.orders = [Order(Answer(GOOD, End.NONE))]

        with pytest.raises(Transient):
            await say(mind, Prompt("Hi"), pieces.hear)

    assert "".join(pieces) == GOOD  # it was heard, and yet not believed


@PLACES
async def test_thinking_is_not_part_of_the_answer(place: Place) -> None:
    async with Vendor() as vendor, brain(vendor, place) as mind:
        vendor.orders = [Order(Answer(GOOD, thinking="<deliverable>Not this.</deliverable>"))]

        assert (await mind.think(Prompt("Hi"), session="s")).text == GOOD


@PLACES
async def test_a_trouble_of_the_listener_is_passed_on_as_it_is(place: Place) -> None:
    async def full(_: str) -> None:
        raise StoreFull("agent.db", "no room")

    async with Vendor() as vendor, brain(vendor, place) as mind:
        vendor.orders = [Order(Answer(GOOD))]

        with pytest.raises(StoreFull):
            await say(mind, Prompt("Hi"), full)


async def test_what_an_answer_costs_is_known_where_there_is_a_price() -> None:
    async with Vendor() as vendor:
        environ = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": vendor.url}
        mind = ModelBrain(choose.choose_models(environ, brain_settings()))

        reply = await mind.think(Prompt("Hi"), session="s")
        await mind.close()

    assert reply.usage == Usage(30, 1, 1, 30, 20, 10)  # a part of a cent counts as one


# What is sent -------------------------------------------------------------------------------------


@PLACES
async def test_the_prompt_the_model_and_the_limit_are_sent(place: Place) -> None:
    async with Vendor() as vendor, brain(vendor, place) as mind:
        await mind.think(Prompt("Parks?"), session="s")
    (heard,) = vendor.heard

    names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    limits = {name: heard.body[name] for name in names if name in heard.body}
    assert [*limits.values()] == [1000]
    assert place is not Place.OLLAMA or "max_tokens" in limits  # it knows no other name
    assert place is not Place.RESPONSES or heard.body["store"] is False  # nothing is left there
    assert heard.body["model"] == "test"
    assert "Parks?" in heard.text
    keys = [heard.headers.get(name, "") for name in ("x-api-key", "authorization")]
    assert KEY in [key.removeprefix("Bearer ") for key in keys]


@pytest.mark.parametrize("prefix", ["openai", "openai-chat", "openai-responses", "ollama"])
async def test_a_vendors_key_goes_to_no_other_server(
    prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"OPENAI_API_KEY": KEY, "OLLAMA_API_KEY": KEY}
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    async with Vendor() as vendor:
        wish = brain_settings(model=f"{prefix}:test", base_url=f"{vendor.url}/v1")
        mind = ModelBrain(choose.choose_models(environ, wish))
        await mind.think(Prompt("Hi"), session="s")
        await mind.close()

    assert KEY not in json.dumps(dict(vendor.heard[0].headers))


@PLACES
@STREAMED
async def test_a_redirect_is_not_followed_and_no_key_travels(
    place: Place, *, streams: bool
) -> None:
    async with Vendor() as vendor, Vendor() as thief, brain(vendor, place) as mind:
        vendor.orders = [Order(status=307, headers={"location": f"{thief.url}/v1/messages"})]

        with pytest.raises((Transient, Permanent)):
            await say(mind, Prompt("Hi"), Pieces().hear if streams else None)

    assert len(vendor.heard) == 1
    assert thief.heard == []


# What only the owner can mend ---------------------------------------------------------------------


@PLACES
@STREAMED
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, "authentication_error"),
        (403, "permission_error"),
        (402, "billing_error"),
        (404, "not_found_error"),
    ],
)
async def test_what_only_the_owner_can_mend_is_asked(
    status: int, kind: str, place: Place, *, streams: bool
) -> None:
    async with Vendor() as vendor, brain(vendor, place) as mind:
        vendor.orders = [Order(status=status, kind=kind, message=f"Incorrect key: {KEY}")]

        reply = await say(mind, Prompt("Hi"), Pieces().hear if streams else None)

    assert reply.ask is not None
    assert reply.ask.reason is Reason.AUTH
    assert len(vendor.heard) == 1


@PLACES
async def test_a_request_that_is_wrong_stays_wrong(place: Place) -> None:
    async with Vendor() as vendor, brain(vendor, place) as mind:
        vendor.orders = [Order(status=400, kind="invalid_request_error", message="Bad tool.")]

        with pytest.raises(Permanent, match=r"rejected the request: Bad tool\."):
            await mind.think(Prompt("Hi"), session="s")

    assert len(vendor.heard) == 1


@pytest.mark.usefixtures("hurry")
@PLACES
async def test_who_is_not_there_may_come_back(place: Place) -> None:
    async with Vendor() as vendor:
        gone = choice(vendor, place)
    mind = ModelBrain(gone)

    with pytest.raises(Transient, match="connection"):
        await mind.think(Prompt("Hi"), session="s")
    await mind.close()


async def test_without_a_model_the_owner_is_told_what_to_set() -> None:
    nothing = ModelBrain(choose.choose_models({}, brain_settings()))

    reply = await nothing.think(Prompt("Hi"), session="s")
    form = await nothing.fill(Prompt("Hi"), dict[str, str], session="s")

    assert reply == form
    assert reply.ask is not None
    assert reply.ask.reason is Reason.AUTH
    assert "ANTHROPIC_API_KEY" in reply.ask.question
    await nothing.close()


async def test_each_role_asks_its_own_model() -> None:
    async with Vendor() as vendor:
        environ = {"OLLAMA_BASE_URL": vendor.url}
        found = choose.choose_models(
            environ, brain_settings(model="ollama:big", score="ollama:small")
        )
        for role in (ModelRole.THINK, ModelRole.SCORE):
            mind = ModelBrain(found, role)
            await mind.think(Prompt("Hi"), session="s")
            await mind.close()

    assert [heard.body["model"] for heard in vendor.heard] == ["big", "small"]


# What was said before -----------------------------------------------------------------------------


@PLACES
async def test_the_next_turn_knows_what_was_said(place: Place) -> None:
    states: tuple[str, ...] = ()
    async with Vendor() as vendor, brain(vendor, place) as mind:
        for number in (1, 2, 3):
            vendor.orders = [Order(Answer(f"Answer {number}."))]
            reply = await say(mind, Prompt(f"Question {number}?", earlier=states))
            states = (*states, reply.state)

    told = vendor.heard[-1].text
    order = [told.index(word) for word in ("Question 1", "Answer 1", "Question 2", "Answer 2")]
    assert order == sorted(order)
    assert "Question 1" not in states[2]  # a run keeps what it added, no more


async def test_a_thought_begun_with_one_vendor_goes_on_with_another() -> None:
    states: list[str] = []
    async with Vendor() as vendor:
        for place in Place:
            async with brain(vendor, place) as mind:
                reply = await say(mind, Prompt(f"To {place}", earlier=tuple(states)))
                states.append(reply.state)

    assert all(f"To {place}" in vendor.heard[-1].text for place in Place)


# Forms that it fills in ---------------------------------------------------------------------------


FILLED = Order(Answer(call=Call("answer", '{"urgency": 0.9, "why": "Your visa ends."}')))
WRONG = Order(Answer(call=Call("answer", '{"urgency": "very"}')))
BROKEN = Order(Answer(call=Call("answer", '{"urgency": 0.9, "why": ')))
TALK = Order(Answer("It is quite urgent, I would say."))


@dataclass(frozen=True, slots=True)
class Score:
    urgency: float
    why: str


async def _fill(vendor: Vendor, place: Place) -> FilledForm[Score] | Reply:
    async with brain(vendor, place, role=ModelRole.SCORE) as mind:
        return await mind.fill(Prompt("How urgent?"), Score, session="s")


@PLACES
async def test_a_form_comes_back_as_its_type(place: Place) -> None:
    async with Vendor() as vendor:
        vendor.orders = [FILLED]

        filled = await _fill(vendor, place)

    assert filled == FilledForm(
        Score(0.9, "Your visa ends."), Usage(30, 0, 1, 30, asked=20, answered=10)
    )


@PLACES
@pytest.mark.parametrize("odd", [WRONG, BROKEN, TALK], ids=["schema", "json", "talk"])
async def test_what_does_not_fit_is_healed_by_the_model(odd: Order, place: Place) -> None:
    async with Vendor() as vendor:
        vendor.orders = [odd, odd, FILLED]

        filled = await _fill(vendor, place)

        assert len(vendor.heard) == 3
    assert filled == FilledForm(
        Score(0.9, "Your visa ends."), Usage(90, 0, 3, 30, asked=60, answered=30)
    )


@PLACES
@pytest.mark.parametrize("end", [End.LIMIT, End.REFUSAL])
async def test_a_form_that_was_cut_or_refused_is_held(end: End, place: Place) -> None:
    async with Vendor() as vendor:
        vendor.orders = [Order(Answer("I cannot say, for", end))]

        reply = await _fill(vendor, place)

    assert isinstance(reply, Reply)
    assert reply.text.startswith("[Held: ")
    assert len(vendor.heard) <= 3


# A thought that is not wanted any more ------------------------------------------------------------


SOON = 100  # the first thought of a process loads the vendors' libraries


@PLACES
@STREAMED
async def test_a_cancelled_thought_hangs_up(place: Place, *, streams: bool) -> None:
    """Before the first word, or in the middle of one."""
    began = asyncio.Event()

    async def hear(_: str) -> None:
        began.set()

    async with Vendor() as vendor, brain(vendor, place) as mind:
        vendor.orders = [Order(Answer(GOOD * 100), pace=0.3, wait=0 if streams else 300)]
        thought = asyncio.create_task(say(mind, Prompt("Hi"), hear if streams else None))
        await asyncio.wait_for(began.wait() if streams else vendor.until(1), SOON)

        thought.cancel()
        with pytest.raises(asyncio.CancelledError):
            await thought

        await asyncio.wait_for(vendor.heard[0].left.wait(), SOON)
        assert len(vendor.heard) == 1


@PLACES
@STREAMED
async def test_a_thought_that_takes_too_long_is_hung_up_on(place: Place, *, streams: bool) -> None:
    async def hear(_: str) -> None:
        pass

    await warm(place)
    async with Vendor() as vendor, brain(vendor, place, time_limit=3) as mind:
        # Alive, and for ever at it: no pause between two pieces is long.
        vendor.orders = [
            Order(Answer(GOOD * 2000), pace=0.2, wait=0 if streams else 300),
        ]

        with pytest.raises(Transient, match="too long"):
            await say(mind, Prompt("Hi"), hear if streams else None)

        await asyncio.wait_for(vendor.heard[0].left.wait(), SOON)
        assert len(vendor.heard) == 1


@PLACES
async def test_the_line_is_good_after_a_hang_up(place: Place) -> None:
    async with Vendor() as vendor, brain(vendor, place) as mind:
        vendor.orders = [Order(wait=300), Order(Answer(GOOD))]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await mind.think(Prompt("Hi"), session="s")
        vendor.orders = [Order(Answer(GOOD))]

        assert (await mind.think(Prompt("Hi"), session="s")).text == GOOD


@PLACES
async def test_a_hundred_sessions_speak_at_once_and_none_hears_another(place: Place) -> None:
    async with Vendor() as vendor, brain(vendor, place) as mind:
        vendor.decide = lambda heard: Order(
            Answer(next(word for word in heard.text.split() if word.startswith("name-"))),
            wait=0.2,
        )

        async with asyncio.timeout(100):
            replies = await asyncio.gather(
                *(mind.think(Prompt(f"I am name-{n} indeed"), session=f"s-{n}") for n in range(100))
            )

    assert [reply.text for reply in replies] == [f"name-{n}" for n in range(100)]
    assert len(vendor.heard) == 100
