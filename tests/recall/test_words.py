"""Tasks by the words they share: what tells something is looked for, what does not is not."""

from pathlib import Path

from remit.store import recall
from remit.testing import World


async def test_a_word_is_found_in_another_form_and_a_common_one_tells_nothing(
    tmp_path: Path,
) -> None:
    async with World(tmp_path) as world:
        bill = await world.add("Die Rechnungen der Stadtwerke prüfen")
        for n in range(40):
            await world.add(f"Etwas erledigen, Sache {n}")

        assert await world.house.db.read(recall.worded, "rechnung", 5) == [bill.id]
        assert await world.house.db.read(recall.worded, "RECHNUNG prufen!", 5) == [bill.id]
        assert await world.house.db.read(recall.worded, "erledigen", 5) == []
        assert await world.house.db.read(recall.worded, "an der — ...", 5) == []


async def test_a_beginning_that_many_words_share_is_looked_up_only_so_far(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        for letter in "abcdefghijklmnopqrst":
            await world.add(f"Something about waterfall{letter}")
        long = await world.add("Something about waterfallaholics")
        for n in range(100):
            await world.add(f"Something else, {n}")

        found = await world.house.db.read(recall.worded, "waterfalls", 50)

        assert len(found) in range(1, 13)
        assert long.id not in found


async def test_a_task_is_told_once_that_it_has_a_twin(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        task = await world.add("Anything")
        told = [
            await world.house.db.write(recall.propose, task.id, {"said": "Twice."}, world.now)
            for _ in range(2)
        ]

        assert told == [True, False]
