"""One task that kills its process: it is found out, and the others get through."""

import json
import signal
from collections import Counter
from pathlib import Path

from remit.model.status import Reason
from remit.testing import World
from tests import forks
from tests.engine import poison_worker
from tests.engine.lives import PATIENCE, environ
from tests.engine.rig import everything

WORKER = str(Path(poison_worker.__file__))


def lived(home: Path) -> int:
    return forks.start(WORKER, str(home), env=environ()).wait(PATIENCE)


async def test_one_deadly_task_among_thirty_is_shown_to_the_owner_after_three_deaths(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"

    deaths = [lived(home) for _ in range(4)]

    assert deaths == [-signal.SIGKILL] * 3 + [0]
    async with World(home) as world:
        ends = Counter((task.status.value, task.reason) for task in await everything(world))
        (review,) = await world.waiting()
        poison = await world.get(review.task_id)
    assert ends == {("completed", None): 29, ("needs_review", Reason.POISON): 1}
    assert poison.title == "poison"
    assert "died 3 times" in review.question
    lines = (home / "provider.jsonl").read_text().splitlines()
    assert Counter(json.loads(line)["body"] for line in lines) == {f"{n}": 1 for n in range(29)}
