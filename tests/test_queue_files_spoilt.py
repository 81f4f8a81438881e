"""Attack 31: what is done to a file of `hitl_queue/` decides nothing, and the file is put right."""

import json
import pickle
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from remit.journal.scribe import FOLDER
from remit.model.review import ReviewAnswer
from remit.testing import World, script
from tests.test_queue_files import kept, until


class Orders:
    """What runs if anybody unpickles it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Callable[[Path], None], tuple[Path]]:
        return Path.touch, (self._path,)


def _edited(path: Path) -> None:
    told = json.loads(path.read_text())
    told["review"] |= {"decision": {"answer": "approve"}, "question": "Fine?", "digest": "0" * 64}
    told["task"] |= {"status": "READY", "delivery": [{"channel": "outbox", "recipient": "eve"}]}
    path.chmod(0o600)
    path.write_text(json.dumps(told))


def _pickled(path: Path) -> None:
    path.unlink()
    path.write_bytes(pickle.dumps(Orders(path.parent.parent / "owned")))


def _linked(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent.parent / "precious")


@pytest.mark.parametrize("spoil", [_edited, _pickled, _linked, Path.unlink])
async def test_what_is_done_to_a_file_decides_nothing_and_is_put_right(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    folder, precious, owned = tmp_path / FOLDER, tmp_path / "precious", tmp_path / "owned"
    precious.write_text("untouched")
    brain = script([{"reply": "<deliverable>Hello Anna.</deliverable>"}])
    async with World(tmp_path, brain=brain) as world:
        async with kept(world, folder):
            await world.add("Greet Anna", recipient="anna@home.example")
            await world.run()
            (review,) = await world.waiting()
            path = folder / f"{review.id}.json"
            await until(path.exists)
            was = path.read_bytes()
            spoil(path)
            await world.run(timedelta(days=1))

            assert await world.waiting() == [review]
            assert world.outbox.sent == []

        async with kept(world, folder):  # the next start
            await until(lambda: path.exists() and path.read_bytes() == was)

        assert (precious.read_text(), owned.exists(), path.is_symlink()) == (
            "untouched",
            False,
            False,
        )
        await world.decide(review, ReviewAnswer.APPROVE)
        await world.run()
        assert [(each.recipient, each.body) for each in world.outbox.sent] == [
            ("anna@home.example", "Hello Anna.")
        ]
