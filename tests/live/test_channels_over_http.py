"""Channels from the settings, over real HTTP: what is sent, what comes back, what heals a doubt."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import permutations
from pathlib import Path

import pytest

from remit.cli.up_process import redact_logs
from remit.model.delivery import DeliveryStatus
from remit.model.review import ReviewAnswer
from remit.model.status import Reason, Status
from remit.notify import remark
from tests.channels.whatsapp.whatsapp import (
    PERSON,
    SECRET,
    TOKEN,
    Cut,
    Order,
    Provider,
    call,
    statuses,
    tell,
)
from tests.live.channel_app import NAME, VERIFY, WHATSAPP, ChannelApp, only, states


@asynccontextmanager
async def opened(home: Path, *, lost: bool = False) -> AsyncIterator[tuple[Provider, ChannelApp]]:
    """An app whose owner has just written; `lost`: the first answer to it does not come back."""
    async with (
        Provider() as provider,
        ChannelApp(home, WHATSAPP.format(url=provider.url)) as app,
    ):
        await app.owner_wrote()
        if lost:
            provider.orders = [Order(cut=Cut.BEFORE_ANSWER, accept=True), Order()]
        yield provider, app


async def reported(app: ChannelApp, provider: Provider, *told: str) -> None:
    """The provider reports on everything that it accepted, as signed calls."""
    lives = [provider.status(message, each) for message in provider.accepted for each in told]
    assert await tell(app.hook, call(statuses(*lives))) == 200


async def test_a_text_is_sent_by_the_name_of_the_settings_and_a_report_changes_nothing_more(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as (provider, app):
        task = await app.send(NAME, "# Parks\n\n- **Lumphini**")
        before = only(task)
        await reported(app, provider, "sent", "delivered", "read")
        task = await app.passes(task.id, 3600)

        assert task.status is Status.COMPLETED
        assert only(task) == before
        assert only(task).receipt == provider.accepted[0].ref
        assert [m.text for m in provider.accepted] == ["*Parks*\n\n• *Lumphini*"]
        assert [(m.to, m.key) for m in provider.accepted] == [(PERSON, only(task).id)]


async def test_a_lost_answer_is_waited_for_and_healed_by_the_report_with_one_message(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, lost=True) as (provider, app):
        task = await app.send(NAME, "Good day.")
        assert states(task) == ["unknown"]
        assert task.status is Status.DELIVERING
        assert await app.world.waiting() == []

        await app.passes(task.id, 120)
        await reported(app, provider, "delivered")
        task = await app.passes(task.id, 1)

        assert (task.status, states(task)) == (Status.COMPLETED, ["sent"])
        assert only(task).receipt == provider.accepted[0].ref
        assert len(provider.accepted) == 1


async def test_without_a_report_the_owner_is_asked_after_the_grace_and_not_before(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, lost=True) as (provider, app):
        task = await app.send(NAME, "Good day.")
        await app.passes(task.id, 899)
        assert await app.world.waiting() == []

        task = await app.passes(task.id, 2)

        assert task.status is Status.NEEDS_REVIEW
        assert (await app.only_question()).reason is Reason.AMBIGUOUS
        await app.world.decide(await app.only_question(), ReviewAnswer.ARRIVED)
        assert (await app.passes(task.id)).status is Status.COMPLETED
        assert len(provider.heard) == 1


async def test_reports_in_any_order_and_any_number_say_the_same(tmp_path: Path) -> None:
    async with opened(tmp_path) as (provider, app):
        for order in permutations(("sent", "delivered", "read")):
            provider.orders = [Order(cut=Cut.BEFORE_ANSWER, accept=True), Order()]
            task = await app.send(NAME, "Good day.")
            assert states(task) == ["unknown"]
            message = provider.accepted[-1]
            late = provider.failed(message, 131026, "Message undeliverable")
            for told in (*(provider.status(message, each) for each in (*order, *order)), late):
                assert await tell(app.hook, call(statuses(told))) == 200
            task = await app.passes(task.id, 7)
            assert (task.status, states(task)) == (Status.COMPLETED, ["sent"]), order


async def test_a_failure_that_is_reported_settles_the_doubt_as_not_sent(tmp_path: Path) -> None:
    async with opened(tmp_path, lost=True) as (provider, app):
        task = await app.send(NAME, "Good day.")
        failed = provider.failed(provider.accepted[0], 131026, "Message undeliverable")
        late = provider.status(provider.accepted[0], "sent")
        assert await tell(app.hook, call(statuses(failed), statuses(late))) == 200
        task = await app.passes(task.id, 1)

        assert task.status is Status.FAILED
        assert only(task).status is DeliveryStatus.REFUSED
        assert "131026" in (only(task).reason or "")


async def test_what_was_accepted_and_fails_later_stays_sent_and_is_told_to_the_owner(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as (provider, app):
        task = await app.send(NAME, "Good day.")
        failed = provider.failed(provider.accepted[0], 131047, "Re-engagement message")
        for _ in range(3):
            assert await tell(app.hook, call(statuses(failed))) == 200
        task = await app.passes(task.id, 60)

        assert (task.status, states(task)) == (Status.COMPLETED, ["sent"])
        history = await app.world.history(task.id)
        told = [found.text for each in history if (found := remark(each, "Greeting"))]
        assert len(told) == 2
        assert told[1].startswith("Greeting: a message did not arrive. ")
        assert "131047" in told[1]
        assert len(provider.heard) == 1


@pytest.mark.parametrize("expired", [True, False])
async def test_without_a_good_token_the_owner_is_asked_and_with_a_new_one_it_goes_on(
    tmp_path: Path, *, expired: bool
) -> None:
    async with opened(tmp_path) as (provider, app):
        if expired:
            provider.token = "EAAcanaryRenewed00112233"
        else:
            app.secrets.drop("whatsapp_token")
        task = await app.send(NAME, "Good day.")
        question = await app.only_question()
        assert task.status is Status.NEEDS_REVIEW
        assert (question.reason, question.about) == (Reason.AUTH, f"channel:{NAME}")
        assert TOKEN not in question.question
        assert len(provider.heard) == expired, "nothing is sent without one"

        app.secrets.put("whatsapp_token", provider.token)
        await (app.restart() if expired else app.approve())
        task = await app.passes(task.id, 60)

        assert task.status is Status.COMPLETED
        assert len(provider.accepted) == 1


async def test_a_long_text_goes_out_in_parts_in_order_over_a_restart_in_the_middle(
    tmp_path: Path,
) -> None:
    text = "\n\n".join(f"Paragraph {n}. " + "All is well in the park. " * 30 for n in range(40))
    async with opened(tmp_path) as (provider, app):
        task = await app.send(NAME, text)
        assert states(task) == ["sent"] + ["pending"] * (len(task.delivery) - 1)
        await app.passes(task.id, 7)
        await app.restart()
        task = await app.passes(task.id, 300)

        assert task.status is Status.COMPLETED
        assert len(provider.accepted) == len(task.delivery) > 7, "more parts than a task has tries"
        assert [m.text for m in provider.accepted] == [d.body for d in task.delivery]
        assert "".join("".join(m.text for m in provider.accepted).split()) == "".join(text.split())


async def test_many_messages_to_one_person_keep_the_pace_and_none_fails_by_waiting(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as (provider, app):
        tasks = [await app.world.add("Send", content=f"No {n}", channel=NAME) for n in range(9)]
        await app.passes(tasks[0].id, 300)

        ends = [(await app.world.get(task.id)).status for task in tasks]
        assert ends == [Status.COMPLETED] * 9
        assert sorted(m.text for m in provider.accepted) == [f"No {n}" for n in range(9)]


async def test_a_contact_is_sent_to_at_the_address_of_the_book_if_she_wrote_lately(
    tmp_path: Path,
) -> None:
    anna = "- name: Anna\n  channels:\n    ninas_whatsapp: '+972 50-765 4321'\n"
    async with opened(tmp_path) as (provider, app):
        app.write("contacts.yaml", anna + "  policy: {ninas_whatsapp: allow}\n")
        early = await app.send(NAME, "Good day.", "Anna")
        await app.wrote("972507654321", "wamid.in.2")
        task = await app.send(NAME, "Good day, Anna.", "Anna")

        assert "24 hours" in (only(early).reason or "")
        assert task.status is Status.COMPLETED
        assert [(m.to, m.text) for m in provider.accepted] == [("972507654321", "Good day, Anna.")]


async def test_a_text_with_a_secret_in_it_is_held_also_one_renewed_without_a_restart(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as (provider, app):
        provider.token = "zq-renewed-canary-0815"
        app.secrets.put("whatsapp_token", provider.token)
        good = await app.send(NAME, "Good day.")
        held = [await app.send(NAME, f"It is {each}.") for each in (VERIFY, provider.token)]

        assert good.status is Status.COMPLETED
        assert [each.status for each in held] == [Status.NEEDS_REVIEW] * 2
        asked = await app.world.waiting()
        assert [each.reason for each in asked] == [Reason.DELIVERABLE] * 2
        assert len(provider.heard) == 1


async def test_what_is_logged_shows_no_secret_old_or_renewed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    last = logging.lastResort
    assert last is not None
    async with opened(tmp_path) as (_, app):
        app.secrets.put("whatsapp_token", "zq-renewed-canary-0815")
        await app.send(NAME, "Good day.")
        redact_logs(app.world.app.hide)
        try:
            for secret in (TOKEN, SECRET, VERIFY, "zq-renewed-canary-0815"):
                last.handle(logging.makeLogRecord({"msg": "It said %s.", "args": (secret,)}))
        finally:
            last.removeFilter(last.filters[-1])

    assert capsys.readouterr().err == "It said ….\n" * 4
