"""An app with a project: git, checks and sandbox are real, and specialists are programs."""

import json
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from remit.model.codec import Json, JsonMap
from remit.model.contract import Contract, Result
from remit.model.delivery import Delivery
from remit.model.review import Review, ReviewAnswer
from remit.model.run import Event, EventKind
from remit.model.status import Status
from remit.model.task import Creator, Task
from remit.ports import Brain
from remit.settings import BudgetSettings, DeliverSettings, EngineSettings, Settings
from remit.settings.projects import ProjectSettings, SpecialistKind, SpecialistSettings
from remit.testing import World
from tests.engine.rig import until
from tests.sample_task import verdict_of
from tests.specialist.repository import git

HAND: Final = Path(__file__).parent / "hand.py"
ADD: Final = "Add a currency option to the price formatter"
PRICES: Final = ("shop/price.py",)

# Checks that pass at once, run in the sandbox all the same: for stories about something else.
QUICK: Final = {
    "typecheck": ["true"],
    "lint": ["true"],
    "unit-test": ["sh", "-c", "true", "{pattern}"],
}


def turn(  # noqa: PLR0913 - all that it may do at once
    text: str | None = None,
    *,
    write: Mapping[str, str] = MappingProxyType({}),
    delete: Sequence[str] = (),
    link: Mapping[str, str] = MappingProxyType({}),
    say: str = "I did it.",
    complain: str = "",
    code: int = 0,
    hang: bool = False,
) -> JsonMap:
    """Return one turn of a program: the price formatter becomes this text, and more."""
    wrote = {"shop/price.py": text} if text is not None else {}
    return {
        "write": {**wrote, **write},
        "delete": [*delete],
        "link": {**link},
        "say": say,
        "complain": complain,
        "code": code,
        "hang": hang,
    }


@dataclass
class Hand:
    """What one program was told, and what it shall do."""

    folder: Path
    turns: Sequence[JsonMap]

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        self.then(*self.turns)

    def then(self, *turns: JsonMap) -> None:
        (self.folder / "script.json").write_text(json.dumps(turns))

    @property
    def told(self) -> list[str]:
        count = len(list(self.folder.glob("told-*.md")))
        return [(self.folder / f"told-{n}.md").read_text() for n in range(count)]

    async def hangs(self, n: int = 0) -> None:
        await until((self.folder / f"hangs-{n}").exists)

    @property
    def chosen(self) -> SpecialistSettings:
        argv = (sys.executable, str(HAND), str(self.folder))
        # Its prompts are stored where the test reads them: listed, or its sandbox would not have
        # it.
        return SpecialistSettings(
            kind=SpecialistKind.COMMAND, argv=argv, writes=(str(self.folder),)
        )


@dataclass
class Shop:
    """The world, the owner's folder, and the specialists."""

    world: World
    repo: Path
    hands: Mapping[str, Hand]
    asked: list[Review] = field(default_factory=list)

    async def order(
        self,
        text: str = ADD,
        files: Sequence[str] = PRICES,
        *,
        rests: bool = True,
        by: Creator = Creator.USER,
        to: Sequence[Delivery] = (),
        contract: Contract | None = None,
        **context: Json,
    ) -> Task:
        """Create project work, and let the app run until it rests."""
        named: JsonMap = {"files": [*files]} if files else {}
        task = await self.world.add(
            text,
            delivery=tuple(to),
            contract=contract,
            context=named | context,
            assigned_agent="project:shop",
            created_by=by,
        )
        if not rests:
            return task
        await self.world.run()
        return await self.world.get(task.id)

    async def question(self) -> Review:
        (review,) = await self.world.waiting()
        self.asked.append(review)
        return review

    async def say(self, answer: ReviewAnswer, text: str | None = None) -> Task:
        """Answer the only question, and let the app run until it rests."""
        review = await self.question()
        await self.world.decide(review, answer, text)
        await self.world.run()
        return await self.world.get(review.task_id)

    async def history(self, task: Task) -> list[Event]:
        return await self.world.history(task.id)

    async def steps(self, task: Task) -> list[str]:
        """Return the recorded steps, in order."""
        events = await self.history(task)
        return [str(each.data["step"]) for each in events if each.kind is EventKind.STEP_DONE]

    async def why(self, task: Task) -> str:
        """Return how its last leg ended, in a sentence."""
        return str((await self.history(task))[-1].data.get("note"))

    def text(self, name: str = "shop/price.py") -> str:
        return (self.repo / name).read_text()

    @property
    def log(self) -> list[str]:
        return git(self.repo, "log", "--format=%s").splitlines()

    def folder(self, task: Task) -> Path:
        """Return where a task is worked on."""
        (found,) = (self.world.app.settings.home / "worktrees").glob(f"*/{task.id}")
        return found


def results(task: Task) -> dict[str, Result]:
    """Return the result of each activity: the worst of several."""
    found = sorted(verdict_of(task).findings, key=lambda each: each.result is Result.FAIL)
    return {each.activity: each.result for each in found}


async def settle(shop: Shop, task: Task) -> Task:
    """Approve the merge."""
    review = await shop.question()
    assert (review.about or "").startswith("merge:"), review.question
    done = await shop.say(ReviewAnswer.APPROVE)
    assert done.id == task.id
    assert done.status is Status.COMPLETED, done
    return done


@asynccontextmanager
async def opened(  # noqa: PLR0913 - as above
    tmp_path: Path,
    repo: Path,
    *,
    brain: Brain | None = None,
    more: Mapping[str, SpecialistSettings] | None = None,
    chain: Sequence[str] = (),
    chains: Mapping[str, Json] | None = None,
    prompts: bool = False,
    budget: BudgetSettings | None = None,
    commands: Mapping[str, Sequence[str]] = MappingProxyType({}),
    **turns: Sequence[JsonMap],
) -> AsyncIterator[Shop]:
    """Open an app on a copy of a repository; each name is a program with its turns."""
    here = tmp_path / "shop"
    shutil.copytree(repo, here)
    hands = {name: Hand(tmp_path / "hands" / name, each) for name, each in turns.items()}
    people = {name: hand.chosen for name, hand in hands.items()} | dict(more or {})
    line = tuple(chain) or tuple(people)
    argvs: dict[str, Json] = {name: list[Json](words) for name, words in commands.items()}
    shop = ProjectSettings(
        path=str(here),
        specialists=line,
        chains=dict(chains or {}),
        prompt_for_advisory=prompts,
        commands=argvs,
    )
    settings = Settings(
        home=tmp_path / "home",
        engine=EngineSettings(stop_limit=0),
        deliver=DeliverSettings(undo=0),
        budget=budget or BudgetSettings(),
        projects={"shop": shop},
        specialists=people,
    )
    async with World(settings.home, settings=settings, brain=brain) as world:
        yield Shop(world, here, hands)


# Opens an app with a project; each name is a program with its turns.
Opens: TypeAlias = Callable[..., AbstractAsyncContextManager[Shop]]
