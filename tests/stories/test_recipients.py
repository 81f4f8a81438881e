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


class House(World):
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
        await self.house.inbox.decide(ReviewId(str(review.id)), decision)
        await self.run()
        return review

    @property
    def went_to(self) -> list[str | None]:
        return [parcel.recipient for parcel in self.whatsapp.sent]


# Whom, and where ----------------------------------------------------------------------------------


async def test_a_name_becomes_an_address_only_when_it_is_sent(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        task = await house.tell()
        review = await house.say(ReviewAnswer.APPROVE)
        sent = await house.get(task.id)

    assert review.question == "Send this to Anna Weber (+491) on whatsapp?"
    assert [each.recipient for each in sent.delivery] == ["Anna Weber"]
    assert [each.address for each in sent.delivery] == ["+491"]
    assert house.went_to == ["+491"]


async def test_a_short_name_is_settled_when_the_task_comes_in(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        task = await house.tell("my sister")
        house.write(
            ANNA.replace("my sister", "nobody") + SCHMIDT.replace("}}", "}, aliases: [my sister]}")
        )
        await house.say(ReviewAnswer.APPROVE)

    assert task.delivery[0].recipient == "Anna Weber"
    assert house.went_to == ["+491"]


@pytest.mark.parametrize("book", [HANAN, ""])
async def test_the_owner_is_written_to_where_the_book_says_or_where_the_channel_knows(
    tmp_path: Path, book: str
) -> None:
    async with House(tmp_path, book) as house:
        await house.tell(None)
        await house.tell("Hanan" if book else "you")

    assert house.went_to == (["+100", "+100"] if book else [None, None])


class Knows(Phone):
    """A channel that knows where its owner reads."""

    knows_owner = True


async def test_a_channel_that_knows_its_owner_needs_no_book_for_him(tmp_path: Path) -> None:
    house = House(tmp_path, HANAN)
    house._channels["whatsapp"] = house.whatsapp = Knows(name="whatsapp")
    async with house:
        await house.tell(None)

    assert house.went_to == [None]


async def test_whom_nobody_knows_is_asked_about_and_the_answer_counts(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        task = await house.tell("Zoe")
        who = await house.say(ReviewAnswer.ANSWER, "Zoe, of course")
        again = await house.say(ReviewAnswer.ANSWER, "+4930")
        shown = await house.say(ReviewAnswer.APPROVE)
        ended = await house.get(task.id)

    assert who.reason is again.reason is Reason.INPUT
    assert "Who is 'Zoe'?" in who.question
    assert "Who is 'Zoe, of course'?" in again.question
    assert shown.question == "Send this to +4930 on whatsapp?"
    assert (ended.status, ended.notes) == (Status.COMPLETED, ())
    assert house.went_to == ["+4930"]


async def test_who_has_no_address_there_is_asked_about(tmp_path: Path) -> None:
    async with House(tmp_path, "- {name: Bob, channels: {email: b@x.org}}\n") as house:
        await house.tell("Bob")
        review = await house.asked()

    assert "Bob has no address on whatsapp" in review.question
    assert house.whatsapp.tried == []


async def test_an_address_that_is_in_the_book_is_that_persons(tmp_path: Path) -> None:
    denied = ANNA.replace("}}", "}, policy: {whatsapp: deny}}")
    async with House(tmp_path, denied) as house:
        task = await house.tell("+491")
        ended = await house.get(task.id)

    assert ended.status is Status.FAILED
    assert house.whatsapp.tried == []


# Swaps --------------------------------------------------------------------------------------------


async def test_an_address_that_changes_after_the_approval_is_asked_about_again(
    tmp_path: Path,
) -> None:
    async with House(tmp_path, deliver=DeliverSettings(undo=10)) as house:
        await house.tell()
        await house.say(ReviewAnswer.APPROVE)
        house.write(MOVED)
        await house.run(timedelta(seconds=10))
        assert house.whatsapp.tried == []
        again = await house.say(ReviewAnswer.APPROVE)
        await house.run(timedelta(seconds=10))

    assert "Anna Weber (+666)" in again.question
    assert house.went_to == ["+666"]


async def test_another_person_under_the_same_address_is_asked_about_again(tmp_path: Path) -> None:
    async with House(tmp_path, ANNA, DeliverSettings(undo=10)) as house:
        await house.tell()
        await house.say(ReviewAnswer.APPROVE)
        house.write(ANNA.replace("Anna Weber", "Anna Klein"))  # renamed: the name leads nowhere
        await house.run(timedelta(seconds=10))
        who = await house.say(ReviewAnswer.ANSWER, "Anna Klein")
        again = await house.asked()

    assert who.reason is Reason.INPUT
    assert "Anna Klein (+491)" in again.question
    assert house.whatsapp.tried == []


@pytest.mark.parametrize("text", ["Hi", "✓ STEP 1: wrote it"])  # asked about, and held
async def test_a_text_the_owner_wrote_is_asked_about_again_for_another_address(
    tmp_path: Path, text: str
) -> None:
    async with House(tmp_path, deliver=DeliverSettings(undo=10)) as house:
        await house.tell(text=text, taint=Taint.PUBLIC)
        await house.say(ReviewAnswer.EDIT, "See you at six.")
        house.write(MOVED)
        await house.run(timedelta(seconds=10))
        assert house.whatsapp.tried == []
        moved = await house.say(ReviewAnswer.EDIT, "See you at seven.")
        house.write(ANNA.replace("+491", "+888"))
        await house.run(timedelta(seconds=10))
        again = await house.say(ReviewAnswer.APPROVE)
        await house.run(timedelta(seconds=10))

    assert (moved.reason, moved.evidence) == (Reason.APPROVAL, "See you at six.")
    assert "Anna Weber (+666)" in moved.question
    assert (again.reason, again.evidence) == (Reason.APPROVAL, "See you at seven.")
    assert [each.body for each in house.whatsapp.sent] == ["See you at seven."]
    assert house.went_to == ["+888"]


async def test_a_text_the_owner_wrote_for_one_is_not_shown_for_another(tmp_path: Path) -> None:
    async with House(tmp_path, ANNA + SCHMIDT, DeliverSettings(undo=10)) as house:
        sends = tuple(Delivery("whatsapp", to, "Hi") for to in ("Anna Weber", "Anna Schmidt"))
        await house.add("Tell them", delivery=sends)
        await house.say(ReviewAnswer.EDIT, "Dear Anna")
        await house.run(timedelta(seconds=10))
        other = await house.asked()

    assert "Anna Schmidt (+777)" in other.question
    assert other.evidence == "Hi"


async def test_a_text_the_owner_wrote_is_asked_about_even_where_he_allows_all(
    tmp_path: Path,
) -> None:
    async with House(tmp_path, deliver=DeliverSettings(undo=10)) as house:
        await house.tell()
        await house.say(ReviewAnswer.EDIT, "See you at six.")
        house.write(ALLOWED.replace("+491", "+666"))
        await house.run(timedelta(seconds=10))
        again = await house.asked()

    assert again.evidence == "See you at six."
    assert house.whatsapp.tried == []


async def test_of_two_annas_neither_is_guessed_and_who_was_said_stays_said(tmp_path: Path) -> None:
    allowed = SCHMIDT.replace("}}", "}, policy: {whatsapp: allow}}")
    async with House(tmp_path, ANNA + allowed) as house:
        await house.tell("Anna")
        which = await house.say(ReviewAnswer.ANSWER, "Anna Weber")
        house.write(allowed)  # now only one Anna is left, and she may be written to
        review = await house.asked()
        await house.say(ReviewAnswer.APPROVE)
        still = await house.asked()

    assert "Anna Weber or Anna Schmidt" in which.question
    assert "Anna Weber (+491)" in review.question
    assert still.reason is Reason.INPUT
    assert house.whatsapp.tried == []


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
    house = House(tmp_path)
    house._channels["whatsapp"] = house.whatsapp = Long(name="whatsapp")
    async with house:
        await house.tell(text="First and second")
        await house.say(ReviewAnswer.APPROVE)
        house.write(MOVED)
        await house.run(timedelta(minutes=5))
        again = await house.asked()

    assert house.went_to == ["+491"]
    assert "Anna Weber (+666)" in again.question
    assert again.evidence == "and second"


async def test_a_book_that_cannot_be_read_sends_nothing_to_others(tmp_path: Path) -> None:
    async with House(tmp_path, ALLOWED) as house:
        task = await house.tell(at=house.now + timedelta(hours=1))
        house.write(ALLOWED + "- nonsense")
        await house.run(timedelta(hours=1))
        review = await house.asked()
        house.write(ALLOWED)
        await house.say(ReviewAnswer.ANSWER, "Anna Weber")
        ended = await house.get(task.id)

    assert "contacts.yaml, line 2" in review.question
    assert ended.status is Status.COMPLETED
    assert house.went_to == ["+491"]


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
    async with House(home, _book(books[0])) as house:
        for n, edits in enumerate(books):
            house.write(_book(edits))
            fine |= {(name, address) for name, address, policy in edits if policy == "allow"}
            if n == 0:
                await house.tell("Anna Weber", "One")
                await house.tell("Bob", "Two", at=house.now + timedelta(hours=2))
            await house.run(timedelta(hours=1))
            for review in await house.waiting():
                if review.reason is not Reason.APPROVAL:
                    continue
                (pair,) = [p for p in _PAIRS if f"{p[0]} ({p[1]})" in review.question]
                house.write(_book(books[(n + 1) % len(books)]))  # between the question and the yes
                fine.add(pair)
                decision = Decision(ReviewAnswer.APPROVE, always=always)
                await house.house.inbox.decide(ReviewId(str(review.id)), decision)
        await house.run(timedelta(hours=3))
    for parcel in house.whatsapp.sent:
        name = "Anna Weber" if parcel.body == "One" else "Bob"
        assert (name, parcel.recipient) in fine
    assert len(house.whatsapp.sent) <= 2


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
    async with House(
        tmp_path, HANAN + ANNA + "- {name: Bob, channels: {email: b@x.org}}\n"
    ) as house:
        await house.add("Write to me", channel="whatsapp", work=["Write"])
        await house.run()
        assert isinstance(house.brain, ScriptedBrain)
        (heard,) = house.brain.heard

    assert "- whatsapp: your owner, Anna Weber\n" in heard
    assert not any(address in heard for address in ("+100", "+491", "41@lid", "b@x.org"))


# Whether it asks ----------------------------------------------------------------------------------


async def test_who_is_allowed_is_written_to_unasked(tmp_path: Path) -> None:
    async with House(tmp_path, ALLOWED) as house:
        await house.tell()

    assert house.went_to == ["+491"]


async def test_a_yes_about_one_of_two_who_share_an_address_is_none_about_the_other(
    tmp_path: Path,
) -> None:
    shared = ANNA + SCHMIDT.replace("+777", "+491").replace("}}", "}, policy: {whatsapp: allow}}")
    async with House(tmp_path, shared) as house:
        await house.tell("Anna Weber", "To one")
        review = await house.asked()
        await house.tell("Anna Schmidt", "To the other")

    assert "Anna Weber (+491)" in review.question
    assert [parcel.body for parcel in house.whatsapp.sent] == ["To the other"]


@pytest.mark.parametrize("taint", [Taint.CONTACT, Taint.PUBLIC])
async def test_what_has_read_other_peoples_words_asks_although_it_is_allowed(
    tmp_path: Path, taint: Taint
) -> None:
    async with House(tmp_path, ALLOWED) as house:
        await house.tell(taint=taint)
        review = await house.say(ReviewAnswer.APPROVE)

    assert review.question.startswith("The task has read what is not yours.")
    assert house.went_to == ["+491"]


async def test_who_is_denied_is_refused_before_anything_is_claimed(tmp_path: Path) -> None:
    async with House(tmp_path, ALLOWED) as house:
        await house.house.permits.permit("Anna Weber", "whatsapp", Policy.DENY)
        task = await house.tell()
        ended = await house.get(task.id)
        kinds = [event.kind for event in await house.history(task.id)]

    assert ended.status is Status.FAILED
    assert ended.delivery[0].status is DeliveryStatus.REFUSED
    assert "Anna Weber is not written to on whatsapp" in (ended.delivery[0].reason or "")
    assert "delivery.claimed" not in kinds
    assert house.whatsapp.tried == []


async def test_always_is_kept_for_the_address_that_was_seen_and_can_be_revoked(
    tmp_path: Path,
) -> None:
    async with House(tmp_path) as house:
        await house.tell(text="One")
        await house.say(ReviewAnswer.APPROVE, always=True)
        await house.tell(text="Two")
        assert house.went_to == ["+491", "+491"]

        house.write(MOVED)
        await house.tell(text="Three")
        moved = await house.say(ReviewAnswer.APPROVE)
        house.write(ANNA)
        await house.house.permits.permit("my sister", "whatsapp", Policy.ASK)
        await house.tell(text="Four")
        revoked = await house.asked()
        (kept,) = await house.house.db.read(permissions.list_permissions)

    assert "+666" in moved.question
    assert "+491" in revoked.question
    assert (kept.contact, kept.address, kept.policy) == ("Anna Weber", "+491", Policy.ASK)


async def test_always_is_no_answer_to_another_question(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await house.tell("Nobody")
        other = await house.asked()
        decision = Decision(ReviewAnswer.ANSWER, "Anna Weber", always=True)
        with pytest.raises(BadInput, match="always"):
            await house.house.inbox.decide(ReviewId(str(other.id)), decision)


async def test_one_more_than_a_days_messages_asks_with_the_count(tmp_path: Path) -> None:
    async with House(tmp_path, ALLOWED, DeliverSettings(undo=0, daily_cap=2)) as house:
        for n in range(3):
            await house.tell(text=f"No. {n}")
        review = await house.say(ReviewAnswer.APPROVE)
        await house.tell(None, "To me, as often as it takes")
        await house.run(timedelta(days=1))
        await house.tell(text="The next day")

    assert review.question.startswith("2 messages went there today, and 2 is the limit. Send this")
    assert house.went_to == ["+491", "+491", "+491", None, "+491"]


async def test_many_at_once_do_not_slip_through_the_days_limit(tmp_path: Path) -> None:
    async with House(tmp_path, ALLOWED, DeliverSettings(undo=0, daily_cap=3)) as house:
        at = house.now + timedelta(hours=1)
        for n in range(12):
            await house.tell(text=f"No. {n}", at=at)
        await house.run(timedelta(hours=1))
        waiting = await house.waiting()
        # The lock of a recipient goes with the last who counts there.
        assert len(house.house.engine._rooms.courier._counting) == 0

    assert len(house.whatsapp.sent) == 3
    assert len(waiting) == 9


# When ---------------------------------------------------------------------------------------------


async def test_quiet_hours_put_off_what_is_not_urgent(tmp_path: Path) -> None:
    quiet = DeliverSettings(undo=0, quiet="22:00-07:00")
    async with House(tmp_path, ALLOWED, quiet) as house:
        late = datetime(2026, 3, 2, 22, 30, tzinfo=UTC)  # half past eleven in Berlin
        house.clock.jump(late)
        task = await house.tell(text="To Anna")
        await house.tell(text="To Anna, urgently", priority=Priority.CRITICAL)
        await house.tell(None, "To me")
        await house.tell(None, "To me, urgently", priority=Priority.HIGH)
        board = await house.add("Note", channel="dashboard", content="On the board")
        await house.run()
        at_night = [parcel.body for parcel in house.whatsapp.sent]
        noted = await house.get(board.id)
        await house.run(timedelta(hours=7, minutes=29))
        before = len(house.whatsapp.sent)
        await house.run(timedelta(minutes=1))
        ended = await house.get(task.id)

    assert at_night == ["To me, urgently"]
    assert noted.status is Status.COMPLETED
    assert before == 1
    assert len(house.whatsapp.sent) == 4
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
    async with House(tmp_path, ALLOWED, DeliverSettings(undo=0, quiet="22:00-07:00")) as house:
        house.clock.jump(night)
        task = await house.tell()
        await house.run(timedelta(hours=12))
        ended = await house.get(task.id)

    assert ended.completed_at == ends


async def test_what_was_approved_can_be_called_back_for_ten_seconds(tmp_path: Path) -> None:
    async with House(tmp_path, deliver=DeliverSettings(undo=10)) as house:
        task = await house.tell()
        await house.say(ReviewAnswer.APPROVE)
        await house.run(timedelta(seconds=9))
        undone = await house.house.owner.undo(task.id)
        await house.run(timedelta(hours=1))
        assert (undone.status, house.whatsapp.tried) == (Status.NEEDS_REVIEW, [])

        await house.say(ReviewAnswer.APPROVE)
        await house.run(timedelta(seconds=11))
        assert house.went_to == ["+491"]
        with pytest.raises(Conflict, match="nothing of it is about to be sent"):
            await house.house.owner.undo(task.id)


async def test_an_approval_can_be_called_back_before_anybody_has_looked_at_it(
    tmp_path: Path,
) -> None:
    async with House(tmp_path, deliver=DeliverSettings(undo=10)) as house:
        task = await house.tell()
        await house.decide(await house.asked(), ReviewAnswer.APPROVE)
        undone = await house.house.owner.undo(task.id)

    assert undone.status is Status.NEEDS_REVIEW
    assert house.whatsapp.tried == []


async def test_whatever_wakes_the_task_the_ten_seconds_are_kept(tmp_path: Path) -> None:
    async with House(tmp_path, deliver=DeliverSettings(undo=10)) as house:
        task = await house.tell()
        await house.say(ReviewAnswer.APPROVE)
        await house.house.owner.run_now(task.id)
        await house.run()
        assert house.whatsapp.tried == []
        undone = await house.house.owner.undo(task.id)

    assert undone.status is Status.NEEDS_REVIEW


async def test_what_was_called_back_is_asked_as_before_and_can_be_written_anew(
    tmp_path: Path,
) -> None:
    async with House(tmp_path, deliver=DeliverSettings(undo=10)) as house:
        task = await house.tell()
        asked = await house.asked()
        await house.decide(asked, ReviewAnswer.EDIT, "Hello")
        await house.house.owner.run_now(task.id)  # somebody has looked at it meanwhile
        await house.run()
        await house.house.owner.undo(task.id)

        again = await house.asked()
        assert (again.id, again.decision, again.draft) == (asked.id, None, "Hello")
        await house.decide(again, ReviewAnswer.EDIT, "Hello there")
        await house.run(timedelta(seconds=11))

    assert [parcel.body for parcel in house.whatsapp.sent] == ["Hello there"]


async def test_an_always_goes_with_the_yes_that_was_called_back(tmp_path: Path) -> None:
    async with House(tmp_path, deliver=DeliverSettings(undo=10)) as house:
        task = await house.tell()
        review = (await house.asked()).id
        assert review is not None
        await house.house.inbox.decide(review, Decision(ReviewAnswer.APPROVE, always=True))
        await house.house.owner.undo(task.id)
        kept = await house.house.db.read(permissions.list_permissions)
        await house.run(timedelta(hours=1))

    assert [each.policy for each in kept] == [Policy.ASK]
    assert house.whatsapp.tried == []


async def test_after_ten_seconds_it_is_too_late(tmp_path: Path) -> None:
    async with House(tmp_path, deliver=DeliverSettings(undo=10)) as house:
        task = await house.tell()
        await house.say(ReviewAnswer.APPROVE)
        house.clock.advance(timedelta(seconds=10))
        with pytest.raises(Conflict, match="too late"):
            await house.house.owner.undo(task.id)
        await house.run()

    assert house.went_to == ["+491"]
