"""Two recipients, one refused: what went out is listed, and a retry does not send it again."""

from pathlib import Path

from remit.model.delivery import Accepted, Answer, Delivery, Parcel, Refused
from remit.model.status import Status
from remit.model.task import Task
from remit.testing import Outbox, World


class Narrow(Outbox):
    """Takes no text with a certain word in it, until it is told to."""

    barred = "second"

    async def send(self, parcel: Parcel) -> Answer:
        if self.barred and self.barred in parcel.body:
            return Refused("not this one")
        return await super().send(parcel)


class Chopping(Narrow):
    """Messages of ten characters."""

    def shape(self, text: str) -> str:
        return text

    def parts(self, shaped: str) -> tuple[str, ...]:
        return tuple(shaped[at : at + 10] for at in range(0, len(shaped), 10))


async def send(world: World, *texts: str) -> Task:
    sends = tuple(Delivery("narrow", content=text) for text in texts)
    task = await world.add("Tell", delivery=sends)
    await world.run()
    return await world.get(task.id)


async def retry(world: World, task: Task) -> Task:
    cue = await world.app.owner.retry(task.id, f"again-{task.id}")
    again = await world.app.intake.admit(cue)
    await world.run()
    return await world.get(again.id)


async def test_a_task_that_went_out_in_part_has_failed_and_says_what_was_sent(
    tmp_path: Path,
) -> None:
    narrow = Narrow(name="narrow")
    async with World(tmp_path, channels={"narrow": narrow}) as world:
        task = await send(world, "the first", "the second")

        assert task.status is Status.FAILED
        assert [each.status for each in task.delivery] == ["sent", "refused"]
        assert task.delivery[1].reason == "not this one"
        said = [str(event.data.get("note")) for event in await world.history(task.id)]
        assert "1 of 2 refused (narrow: not this one); 1 sent." in said


async def test_a_retry_leaves_out_what_was_sent_and_says_so(tmp_path: Path) -> None:
    narrow = Narrow(name="narrow")
    async with World(tmp_path, channels={"narrow": narrow}) as world:
        task = await send(world, "the first", "the second")
        narrow.barred = ""

        again = await retry(world, task)

        assert again.status is Status.COMPLETED
        assert [parcel.body for parcel in narrow.sent] == ["the first", "the second"]
        assert again.context["left_out"] == ["narrow to you"]


async def test_a_retry_of_what_was_all_sent_sends_it_all_once_more(tmp_path: Path) -> None:
    narrow = Narrow(name="narrow", answers=[Accepted("1"), Accepted("2")])
    async with World(tmp_path, channels={"narrow": narrow}) as world:
        again = await retry(world, await send(world, "a", "b"))

        assert [parcel.body for parcel in narrow.sent] == ["a", "b", "a", "b"]
        assert "left_out" not in again.context


async def test_a_long_text_of_which_a_part_was_refused_is_one_delivery_in_the_retry(
    tmp_path: Path,
) -> None:
    chopping = Chopping(name="narrow")
    async with World(tmp_path, channels={"narrow": chopping}) as world:
        task = await send(world, "short", "1234567890second")
        assert [each.status for each in task.delivery] == ["sent", "sent", "refused"]
        chopping.barred = ""

        again = await retry(world, task)

        assert [each.body for each in again.delivery] == ["1234567890", "second"]
        assert again.context["left_out"] == ["narrow to you"]
