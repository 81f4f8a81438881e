"""The right person, at the right address, at the right time, and only as the owner wants it."""

import asyncio
import itertools
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as runs
from hypothesis import strategies as st

from remit.errors import BadInput, Conflict
from remit.model.delivery import Answer, Delivery, DeliveryStatus, Parcel, SendRetry
from remit.model.ids import ReviewId
from remit.model.reply import Policy
from remit.model.review import Decision, Review, ReviewAnswer
from remit.model.status import Reason, Status
from remit.model.task import Priority, Taint, Task
from remit.settings import DeliverSettings, Settings
from remit.store import permissions
from remit.testing import Outbox, ScriptedBrain, World, script
from tests.soak import examples

ANNA = '- {name: Anna Weber, aliases: [my sister], channels: {whatsapp: "+491"}}\n'
MOVED = ANNA.replace("+491", "+666")
SCHMIDT = '- {name: Anna Schmidt, channels: {whatsapp: "+777"}}\n'
ALLOWED = ANNA.replace("}}", "}, policy: {whatsapp: allow}}")
HANAN = '- {name: Hanan, role: owner, channels: {whatsapp: {id: "41@lid", address: "+100"}}}\n'
AT_ONCE = DeliverSettings(undo=0)
_marks = itertools.count(1)


class Phone(Outbox):
    """Sends to numbers alone."""

    knows_owner = False

    def takes(self, address: str) -> bool:
        return address.startswith("+")


class App(World):
    """A world with WhatsApp and a contact book."""

    def __init__(self, home: Path, book: str = ANNA, deliver: DeliverSettings = AT_ONCE) -> None:
        self.home = home
        self.whatsapp: Outbox = Phone(name="whatsapp")
        self.write(book)
        brain = script([{"reply": "<deliverable>Hi</deliverable>"}])
        settings = Settings(home=home, deliver=deliver, zone="Europe/Berlin")
        channels = {"whatsapp": self.whatsapp}
        super().__init__(home, brain=brain, channels=channels, settings=settings)

    def write(self, book: str) -> None:
        """Put another book in place, with a time of its own however fast we are."""
        path = self.home / "contacts.yaml"
        path.write_text(book)
        mark = next(_marks) * 1_000_000_000
        os.utime(path, ns=(mark, mark))

    async def tell(
        self,
        to: str | None = "Anna Weber",
        text: str = "Hi",
        *,
        words: str = "",
        at: datetime | None = None,
        priority: Priority | None = None,
        taint: Taint = Taint.OWNER,
    ) -> Task:
        sends = (Delivery("whatsapp", to, text),)
        text = words or f"Tell {to}"
        task = await self.add(text, at=at, delivery=sends, priority=priority, taint=taint)
        await self.run()
        return task

    async def asked(self) -> Review:
        await self.run()
        (review,) = await self.waiting()
        return review

    async def say(
        self, answer: ReviewAnswer, text: str | None = None, *, always: bool = False
    ) -> Review:
        review = await self.asked()
        decision = Decision(answer, text, always=always)
        await self.app.inbox.decide(ReviewId(str(review.id)), decision)
        await self.run()
        return review

    @property
    def went_to(self) -> list[str | None]:
        return [parcel.recipient for parcel in self.whatsapp.sent]


# Whom, and where ----------------------------------------------------------------------------------


async def test_a_name_becomes_an_address_only_when_it_is_sent(tmp_path: Path) -> None:
    async with App(tmp_path) as app:
        task = await app.tell()
        review = await app.say(ReviewAnswer.APPROVE)
        sent = await app.get(task.id)

    assert review.question == "Send this to Anna Weber (+491) on whatsapp?"
    assert [each.recipient for each in sent.delivery] == ["Anna Weber"]
    assert [each.address for each in sent.delivery] == ["+491"]
    assert app.went_to == ["+491"]


async def test_a_short_name_is_settled_when_the_task_comes_in(tmp_path: Path) -> None:
    async with App(tmp_path) as app:
        task = await app.tell("my sister")
        app.write(
            ANNA.replace("my sister", "nobody") + SCHMIDT.replace("}}", "}, aliases: [my sister]}")
        )
        await app.say(ReviewAnswer.APPROVE)

    assert task.delivery[0].recipient == "Anna Weber"
    assert app.went_to == ["+491"]


class Knows(Phone):
    """A channel that knows where its owner reads."""

    knows_owner = True


@pytest.mark.parametrize(
    ("book", "phone", "address"),
    [(HANAN, Phone, "+100"), ("", Phone, None), (HANAN, Knows, None)],
)
async def test_the_owner_is_written_to_where_the_book_says_or_where_the_channel_knows(
    tmp_path: Path, book: str, phone: type[Phone], address: str | None
) -> None:
    app = App(tmp_path, book)
    app._channels["whatsapp"] = app.whatsapp = phone(name="whatsapp")
    async with app:
        await app.tell(None)
        await app.tell("Hanan" if book else "you")

    assert app.went_to == [address, address]


async def test_whom_nobody_knows_is_asked_about_and_the_answer_counts(tmp_path: Path) -> None:
    async with App(tmp_path) as app:
        task = await app.tell("Zoe")
        who = await app.say(ReviewAnswer.ANSWER, "Zoe, of course")
        again = await app.say(ReviewAnswer.ANSWER, "+4930")
        shown = await app.say(ReviewAnswer.APPROVE)
        ended = await app.get(task.id)

    assert who.reason is again.reason is Reason.INPUT
    assert "Who is 'Zoe'?" in who.question
    assert "Who is 'Zoe, of course'?" in again.question
    assert shown.question == "Send this to +4930 on whatsapp?"
    assert (ended.status, ended.notes) == (Status.COMPLETED, ())
    assert app.went_to == ["+4930"]


async def test_who_has_no_address_there_is_asked_about(tmp_path: Path) -> None:
    async with App(tmp_path, "- {name: Bob, channels: {email: b@x.org}}\n") as app:
        await app.tell("Bob")
        review = await app.asked()

    assert "Bob has no address on whatsapp" in review.question
    assert app.whatsapp.tried == []


async def test_an_address_that_is_in_the_book_is_that_persons(tmp_path: Path) -> None:
    denied = ANNA.replace("}}", "}, policy: {whatsapp: deny}}")
    async with App(tmp_path, denied) as app:
        task = await app.tell("+491")
        ended = await app.get(task.id)

    assert ended.status is Status.FAILED
    assert app.whatsapp.tried == []


# Swaps --------------------------------------------------------------------------------------------


async def test_an_address_that_changes_after_the_approval_is_asked_about_again(
    tmp_path: Path,
) -> None:
    async with App(tmp_path, deliver=DeliverSettings(undo=10)) as app:
        await app.tell()
        await app.say(ReviewAnswer.APPROVE)
        app.write(MOVED)
        await app.run(timedelta(seconds=10))
        assert app.whatsapp.tried == []
        again = await app.say(ReviewAnswer.APPROVE)
        await app.run(timedelta(seconds=10))

    assert "Anna Weber (+666)" in again.question
    assert app.went_to == ["+666"]


async def test_another_person_under_the_same_address_is_asked_about_again(tmp_path: Path) -> None:
    async with App(tmp_path, ANNA, DeliverSettings(undo=10)) as app:
        await app.tell()
        await app.say(ReviewAnswer.APPROVE)
        app.write(ANNA.replace("Anna Weber", "Anna Klein"))  # renamed: the name leads nowhere
        await app.run(timedelta(seconds=10))
        who = await app.say(ReviewAnswer.ANSWER, "Anna Klein")
        again = await app.asked()

    assert who.reason is Reason.INPUT
    assert "Anna Klein (+491)" in again.question
    assert app.whatsapp.tried == []


@pytest.mark.parametrize("text", ["Hi", "✓ STEP 1: wrote it"])  # asked about, and held
async def test_a_text_the_owner_wrote_is_asked_about_again_for_another_address(
    tmp_path: Path, text: str
) -> None:
    async with App(tmp_path, deliver=DeliverSettings(undo=10)) as app:
        await app.tell(text=text, taint=Taint.PUBLIC)
        await app.say(ReviewAnswer.EDIT, "See you at six.")
        app.write(MOVED)
        await app.run(timedelta(seconds=10))
        assert app.whatsapp.tried == []
        moved = await app.say(ReviewAnswer.EDIT, "See you at seven.")
        app.write(ANNA.replace("+491", "+888"))
        await app.run(timedelta(seconds=10))
        again = await app.say(ReviewAnswer.APPROVE)
        await app.run(timedelta(seconds=10))

    assert (moved.reason, moved.evidence) == (Reason.APPROVAL, "See you at six.")
    assert "Anna Weber (+666)" in moved.question
    assert (again.reason, again.evidence) == (Reason.APPROVAL, "See you at seven.")
    assert [each.body for each in app.whatsapp.sent] == ["See you at seven."]
    assert app.went_to == ["+888"]


async def test_a_text_the_owner_wrote_for_one_is_not_shown_for_another(tmp_path: Path) -> None:
    async with App(tmp_path, ANNA + SCHMIDT, DeliverSettings(undo=10)) as app:
        sends = tuple(Delivery("whatsapp", to, "Hi") for to in ("Anna Weber", "Anna Schmidt"))
        await app.add("Tell them", delivery=sends)
        await app.say(ReviewAnswer.EDIT, "Dear Anna")
        await app.run(timedelta(seconds=10))
        other = await app.asked()

    assert "Anna Schmidt (+777)" in other.question
    assert other.evidence == "Hi"


async def test_a_text_the_owner_wrote_is_asked_about_even_where_he_allows_all(
    tmp_path: Path,
) -> None:
    async with App(tmp_path, deliver=DeliverSettings(undo=10)) as app:
        await app.tell()
        await app.say(ReviewAnswer.EDIT, "See you at six.")
        app.write(ALLOWED.replace("+491", "+666"))
        await app.run(timedelta(seconds=10))
        again = await app.asked()

    assert again.evidence == "See you at six."
    assert app.whatsapp.tried == []


async def test_of_two_annas_neither_is_guessed_and_who_was_said_stays_said(tmp_path: Path) -> None:
    allowed = SCHMIDT.replace("}}", "}, policy: {whatsapp: allow}}")
    async with App(tmp_path, ANNA + allowed) as app:
        await app.tell("Anna")
        which = await app.say(ReviewAnswer.ANSWER, "Anna Weber")
        app.write(allowed)  # now only one Anna is left, and she may be written to
        review = await app.asked()
        await app.say(ReviewAnswer.APPROVE)
        still = await app.asked()

    assert "Anna Weber or Anna Schmidt" in which.question
    assert "Anna Weber (+491)" in review.question
    assert still.reason is Reason.INPUT
    assert app.whatsapp.tried == []


class Long(Phone):
    """Sends a text in two messages; the second is put off at first."""

    def shape(self, text: str) -> str:
        return text

    def parts(self, shaped: str) -> tuple[str, ...]:
        return (shaped[:5], shaped[5:])

    async def send(self, parcel: Parcel) -> Answer:
        if len(self.tried) == 1:
            self.tried.append(parcel)
            return SendRetry("busy", 60)
        return await super().send(parcel)


async def test_the_second_part_does_not_follow_to_another_address(tmp_path: Path) -> None:
    app = App(tmp_path)
    app._channels["whatsapp"] = app.whatsapp = Long(name="whatsapp")
    async with app:
        await app.tell(text="First and second")
        await app.say(ReviewAnswer.APPROVE)
        app.write(MOVED)
        await app.run(timedelta(minutes=5))
        again = await app.asked()

    assert app.went_to == ["+491"]
    assert "Anna Weber (+666)" in again.question
    assert again.evidence == "and second"


async def test_a_book_that_cannot_be_read_sends_nothing_to_others(tmp_path: Path) -> None:
    async with App(tmp_path, ALLOWED) as app:
        task = await app.tell(at=app.now + timedelta(hours=1))
        app.write(ALLOWED + "- nonsense")
        await app.run(timedelta(hours=1))
        review = await app.asked()
        app.write(ALLOWED)
        await app.say(ReviewAnswer.ANSWER, "Anna Weber")
        ended = await app.get(task.id)

    assert "contacts.yaml, line 2" in review.question
    assert ended.status is Status.COMPLETED
    assert app.went_to == ["+491"]


Edits = Sequence[tuple[str, str, str]]
_EDITS: st.SearchStrategy[Edits] = st.lists(
    st.tuples(
        st.sampled_from(["Anna Weber", "Anna Schmidt", "Bob"]),
        st.sampled_from(["+1", "+2", "+3"]),
        st.sampled_from(["ask", "allow", "deny", ""]),
    ),
    max_size=3,
    unique_by=lambda each: each[0],
)


@given(books=st.lists(_EDITS, min_size=1, max_size=5), always=st.booleans())
@runs(max_examples=examples(15), deadline=None)
def test_no_parcel_goes_where_the_owner_did_not_see_or_allow_it(
    books: Sequence[Edits], *, always: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("edits")
    asyncio.run(_edited(home, books, always=always))


async def _edited(home: Path, books: Sequence[Edits], *, always: bool) -> None:
    """However the book is edited meanwhile: each send was shown with its address, or allowed."""
    fine: set[tuple[str, str]] = set()
    async with App(home, _book(books[0])) as app:
        for n, edits in enumerate(books):
            app.write(_book(edits))
            fine |= {(name, address) for name, address, policy in edits if policy == "allow"}
            if n == 0:
                await app.tell("Anna Weber", "One")
                await app.tell("Bob", "Two", at=app.now + timedelta(hours=2))
            await app.run(timedelta(hours=1))
            for review in await app.waiting():
                if review.reason is not Reason.APPROVAL:
                    continue
                (pair,) = [p for p in _PAIRS if f"{p[0]} ({p[1]})" in review.question]
                app.write(_book(books[(n + 1) % len(books)]))  # between the question and the yes
                fine.add(pair)
                decision = Decision(ReviewAnswer.APPROVE, always=always)
                await app.app.inbox.decide(ReviewId(str(review.id)), decision)
        await app.run(timedelta(hours=3))
    for parcel in app.whatsapp.sent:
        name = "Anna Weber" if parcel.body == "One" else "Bob"
        assert (name, parcel.recipient) in fine
    assert len(app.whatsapp.sent) <= 2


_PAIRS = [(name, at) for name in ("Anna Weber", "Anna Schmidt", "Bob") for at in ("+1", "+2", "+3")]


def _book(edits: Edits) -> str:
    lines = (
        f'- {{name: {name}, channels: {{whatsapp: "{address}"}}'
        + (f", policy: {{whatsapp: {policy}}}" if policy else "")
        + "}\n"
        for name, address, policy in edits
    )
    return "".join(lines)


async def test_the_brain_is_told_who_is_reached_where_by_name_alone(tmp_path: Path) -> None:
    async with App(tmp_path, HANAN + ANNA + "- {name: Bob, channels: {email: b@x.org}}\n") as app:
        await app.add("Write to me", channel="whatsapp", work=["Write"])
        await app.run()
        assert isinstance(app.brain, ScriptedBrain)
        (heard,) = app.brain.heard

    assert "- whatsapp: your owner, Anna Weber\n" in heard
    assert not any(address in heard for address in ("+100", "+491", "41@lid", "b@x.org"))


# Whether it asks ----------------------------------------------------------------------------------


async def test_a_yes_about_one_of_two_who_share_an_address_is_none_about_the_other(
    tmp_path: Path,
) -> None:
    shared = ANNA + SCHMIDT.replace("+777", "+491").replace("}}", "}, policy: {whatsapp: allow}}")
    async with App(tmp_path, shared) as app:
        await app.tell("Anna Weber", "To one")
        review = await app.asked()
        await app.tell("Anna Schmidt", "To the other")

    assert "Anna Weber (+491)" in review.question
    assert [parcel.body for parcel in app.whatsapp.sent] == ["To the other"]


@pytest.mark.parametrize("taint", [Taint.CONTACT, Taint.PUBLIC])
async def test_what_has_read_other_peoples_words_asks_although_it_is_allowed(
    tmp_path: Path, taint: Taint
) -> None:
    async with App(tmp_path, ALLOWED) as app:
        await app.tell(taint=taint)
        review = await app.say(ReviewAnswer.APPROVE)

    assert review.question.startswith("The task has read what is not yours.")
    assert app.went_to == ["+491"]


async def test_who_is_denied_is_refused_before_anything_is_claimed(tmp_path: Path) -> None:
    async with App(tmp_path, ALLOWED) as app:
        await app.app.permits.permit("Anna Weber", "whatsapp", Policy.DENY)
        task = await app.tell()
        ended = await app.get(task.id)
        kinds = [event.kind for event in await app.history(task.id)]

    assert ended.status is Status.FAILED
    assert ended.delivery[0].status is DeliveryStatus.REFUSED
    assert "Anna Weber is not written to on whatsapp" in (ended.delivery[0].reason or "")
    assert "delivery.claimed" not in kinds
    assert app.whatsapp.tried == []


async def test_always_is_kept_for_the_address_that_was_seen_and_can_be_revoked(
    tmp_path: Path,
) -> None:
    async with App(tmp_path) as app:
        await app.tell(text="One")
        await app.say(ReviewAnswer.APPROVE, always=True)
        await app.tell(text="Two")
        assert app.went_to == ["+491", "+491"]

        app.write(MOVED)
        await app.tell(text="Three")
        moved = await app.say(ReviewAnswer.APPROVE)
        app.write(ANNA)
        await app.app.permits.permit("my sister", "whatsapp", Policy.ASK)
        await app.tell(text="Four")
        revoked = await app.asked()
        (kept,) = await app.app.db.read(permissions.list_permissions)

    assert "+666" in moved.question
    assert "+491" in revoked.question
    assert (kept.contact, kept.address, kept.policy) == ("Anna Weber", "+491", Policy.ASK)


async def test_always_is_no_answer_to_another_question(tmp_path: Path) -> None:
    async with App(tmp_path) as app:
        await app.tell("Nobody")
        other = await app.asked()
        decision = Decision(ReviewAnswer.ANSWER, "Anna Weber", always=True)
        with pytest.raises(BadInput, match="always"):
            await app.app.inbox.decide(ReviewId(str(other.id)), decision)


async def test_one_more_than_a_days_messages_asks_with_the_count(tmp_path: Path) -> None:
    async with App(tmp_path, ALLOWED, DeliverSettings(undo=0, daily_cap=2)) as app:
        for n in range(3):
            await app.tell(text=f"No. {n}")
        review = await app.say(ReviewAnswer.APPROVE)
        await app.tell(None, "To me, as often as it takes")
        await app.run(timedelta(days=1))
        await app.tell(text="The next day")

    assert review.question.startswith("2 messages went there today, and 2 is the limit. Send this")
    assert app.went_to == ["+491", "+491", "+491", None, "+491"]


async def test_many_at_once_do_not_slip_through_the_days_limit(tmp_path: Path) -> None:
    async with App(tmp_path, ALLOWED, DeliverSettings(undo=0, daily_cap=3)) as app:
        at = app.now + timedelta(hours=1)
        for n in range(12):
            await app.tell(text=f"No. {n}", at=at)
        await app.run(timedelta(hours=1))
        waiting = await app.waiting()
        # The lock of a recipient goes with the last who counts there.
        assert len(app.app.engine._rooms.courier._counting) == 0

    assert len(app.whatsapp.sent) == 3
    assert len(waiting) == 9


# When ---------------------------------------------------------------------------------------------


async def test_quiet_hours_put_off_what_is_not_urgent(tmp_path: Path) -> None:
    quiet = DeliverSettings(undo=0, quiet="22:00-07:00")
    async with App(tmp_path, ALLOWED, quiet) as app:
        late = datetime(2026, 3, 2, 22, 30, tzinfo=UTC)  # half past eleven in Berlin
        app.clock.jump(late)
        task = await app.tell(text="To Anna")
        await app.tell(text="To Anna, urgently", priority=Priority.CRITICAL)
        await app.tell(None, "To me")
        await app.tell(None, "To me, urgently", priority=Priority.HIGH)
        board = await app.add("Note", channel="dashboard", content="On the board")
        await app.run()
        at_night = [parcel.body for parcel in app.whatsapp.sent]
        noted = await app.get(board.id)
        await app.run(timedelta(hours=7, minutes=29))
        before = len(app.whatsapp.sent)
        await app.run(timedelta(minutes=1))
        ended = await app.get(task.id)

    assert at_night == ["To me, urgently"]
    assert noted.status is Status.COMPLETED
    assert before == 1
    assert len(app.whatsapp.sent) == 4
    assert ended.attempts == 0
    assert ended.completed_at == datetime(2026, 3, 3, 6, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("night", "ends"),
    [
        (datetime(2026, 3, 28, 23, 0, tzinfo=UTC), datetime(2026, 3, 29, 5, 0, tzinfo=UTC)),
        (datetime(2026, 10, 24, 22, 0, tzinfo=UTC), datetime(2026, 10, 25, 6, 0, tzinfo=UTC)),
    ],
    ids=["an hour is left out", "an hour comes twice"],
)
async def test_the_quiet_ends_by_the_owners_clock_in_the_nights_it_is_changed(
    tmp_path: Path, night: datetime, ends: datetime
) -> None:
    async with App(tmp_path, ALLOWED, DeliverSettings(undo=0, quiet="22:00-07:00")) as app:
        app.clock.jump(night)
        task = await app.tell()
        await app.run(timedelta(hours=12))
        ended = await app.get(task.id)

    assert ended.completed_at == ends


async def test_what_was_approved_can_be_called_back_for_ten_seconds(tmp_path: Path) -> None:
    async with App(tmp_path, deliver=DeliverSettings(undo=10)) as app:
        task = await app.tell()
        await app.say(ReviewAnswer.APPROVE)
        await app.run(timedelta(seconds=9))
        undone = await app.app.owner.undo(task.id)
        await app.run(timedelta(hours=1))
        assert (undone.status, app.whatsapp.tried) == (Status.NEEDS_REVIEW, [])

        await app.say(ReviewAnswer.APPROVE)
        app.clock.advance(timedelta(seconds=10))
        with pytest.raises(Conflict, match="too late"):
            await app.app.owner.undo(task.id)
        await app.run()
        assert app.went_to == ["+491"]
        with pytest.raises(Conflict, match="nothing of it is about to be sent"):
            await app.app.owner.undo(task.id)


async def test_what_was_called_back_is_asked_as_before_and_can_be_written_anew(
    tmp_path: Path,
) -> None:
    async with App(tmp_path, deliver=DeliverSettings(undo=10)) as app:
        task = await app.tell()
        asked = await app.asked()
        await app.decide(asked, ReviewAnswer.EDIT, "Hello")
        await app.app.owner.run_now(task.id)  # somebody has looked at it meanwhile
        await app.run()
        assert app.whatsapp.tried == [], "whatever wakes it, the ten seconds are kept"
        await app.app.owner.undo(task.id)

        again = await app.asked()
        assert (again.id, again.decision, again.draft) == (asked.id, None, "Hello")
        await app.decide(again, ReviewAnswer.EDIT, "Hello there")
        await app.run(timedelta(seconds=11))

    assert [parcel.body for parcel in app.whatsapp.sent] == ["Hello there"]


async def test_an_always_goes_with_the_yes_that_was_called_back(tmp_path: Path) -> None:
    async with App(tmp_path, deliver=DeliverSettings(undo=10)) as app:
        task = await app.tell()
        review = (await app.asked()).id
        assert review is not None
        await app.app.inbox.decide(review, Decision(ReviewAnswer.APPROVE, always=True))
        await app.app.owner.undo(task.id)
        kept = await app.app.db.read(permissions.list_permissions)
        await app.run(timedelta(hours=1))

    assert [each.policy for each in kept] == [Policy.ASK]
    assert app.whatsapp.tried == []
