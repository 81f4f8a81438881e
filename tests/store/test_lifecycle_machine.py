"""Whatever is done to tasks, in any order, the store and the model of the lifecycle agree."""

from collections import Counter
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.model.lifecycle_situations import SITUATIONS, Situation
from tests.soak import SOAK, examples
from tests.store.scene import Scene
from tests.store.stage import EASY, KINDS, MOODS, Deed, Shape, Stage
from tests.store.twin import Twin
from tests.tables import for_each

# The store has no verb for these yet: nothing finds duplicates, and no policy refuses.
NOT_BUILT = {"a duplicate", "against policy"}
MOST_WALKS, STEPS = 500 if SOAK else 30, 60
rarely = st.sampled_from([False, False, True])
shapes = st.tuples(st.integers(0, 2), st.sampled_from(KINDS), rarely, rarely)


class Machine(RuleBasedStateMachine):
    """One rule only: left to choose, hypothesis drops whole rules for a while, and nothing ends."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.stage = Stage(Scene(Path(self.folder.name) / "agent.db"))

    def teardown(self) -> None:
        self.stage.close()
        self.folder.cleanup()

    @initialize(chosen=st.lists(shapes, min_size=1, max_size=3))
    def tasks_come_in(self, chosen: list[Shape]) -> None:
        for shape in chosen:
            self.stage.admit(*shape)

    @rule(what=st.sampled_from(EASY), n=st.integers(0, 40))
    def something_happens(self, what: str, n: int) -> None:
        possible = list(self.stage.possible(what)) or [self.stage.dispatch]
        possible[n % len(possible)]()

    @invariant()
    def the_store_and_the_model_agree(self) -> None:
        self.stage.compare()

    @invariant()
    def the_file_is_in_order(self) -> None:
        self.stage.inspect()


Machine.TestCase.settings = settings(
    max_examples=examples(60), stateful_step_count=30, deadline=None
)
TestLifecycle = Machine.TestCase


@pytest.mark.soak
def test_everything_the_model_knows_happens_in_the_store_too(tmp_path: Path) -> None:
    """Long walks by dice; what was done least comes first, so that nothing is left out.

    Thirty walks meet three of four situations; `make soak` goes on until it has met them all.
    """
    dice, done = Random(6), Counter[object]()  # noqa: S311 - dice
    known = {why for why in SITUATIONS if why.name not in NOT_BUILT}
    may_be_left = 0 if SOAK else len(known) // 4
    for n in range(MOST_WALKS):
        scene = Scene(tmp_path / f"{n}.db")
        known -= _walk(scene, dice, done)
        scene.close()
        if not known:
            break

    assert len(known) <= may_be_left, {(why.name, why.was, why.to) for why in known}


@for_each("seed", range(3))
def test_a_walk_is_the_same_on_both_databases(scene: Scene, seed: int) -> None:
    assert _walk(scene, Random(seed), Counter())  # noqa: S311 - dice


def _walk(scene: Scene, dice: Random, done: Counter[object]) -> set[Situation]:
    stage, mood = Stage(scene), dice.choice(MOODS)
    for _ in range(3):
        stage.admit(
            dice.randint(0, 2), dice.choice(KINDS), dice.random() < 0.3, dice.random() < 0.3
        )
    for _ in range(STEPS):
        if all(twin.ended for twin in stage.twins):
            break
        possible = list(stage.possible(dice.choice(mood))) or [stage.dispatch]
        dice.shuffle(possible)
        deed = min(possible, key=lambda deed: done[_kind(deed)])
        done[_kind(deed)] += 1
        deed()
        stage.compare()
    stage.inspect()
    return set[Situation]().union(*(twin.happened for twin in stage.twins))


def _kind(deed: Deed) -> object:
    """Deeds are of a kind if the same is done to a task that stands in the same place."""
    if not isinstance(deed, partial):
        return deed.__name__
    told = [part for part in deed.args if isinstance(part, str)]
    stands = [twin.config[:3] for twin in deed.args if isinstance(twin, Twin)]
    return (deed.func.__name__, str(deed.keywords), *told, *stands)
