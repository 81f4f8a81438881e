"""The lifecycle, checked exhaustively; and the checks, checked by mistakes made on purpose."""

from functools import cache

import pytest

from remit.errors import IllegalMove
from remit.model.review import OPTIONS, ReviewAnswer
from remit.model.status import BY_PAIR, MOVES, Actor, Reason, Status
from remit.model.view import s3_status, s4_status
from tests.model.lifecycle_checks import CHECKS, S3_EDGES, S4_DIAGRAM, Check, task_in
from tests.model.lifecycle_checks import the_table_is_what_the_specification_asks_for as asked_for
from tests.model.lifecycle_model import Graph, World, explore
from tests.model.lifecycle_mutants import MUTANTS, Mutant, without_actor
from tests.model.lifecycle_situations import SITUATIONS
from tests.soak import one_in


@cache
def as_it_is() -> Graph:
    return explore(World())


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_of_every_configuration_it_is_true_that(check: Check) -> None:
    assert list(check(World(), as_it_is())) == []


@one_in(3)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"the model catches: {mutant.name}")
def test_a_mistake_is_seen(mutant: Mutant) -> None:
    world = mutant.mutate(World())

    complaints = list(mutant.caught_by(world, explore(world)))

    assert complaints, f"{mutant.name!r} passes {mutant.caught_by.__name__}"


def test_every_check_sees_some_mistake() -> None:
    assert {mutant.caught_by for mutant in MUTANTS} == set(CHECKS)


def test_no_two_mistakes_are_the_same() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 12


@one_in(8)
@pytest.mark.parametrize(("was", "to", "by"), sorted(World().rows))
def test_no_row_can_be_taken_away_unseen(was: Status, to: Status, by: Actor) -> None:
    mutant = Mutant("one row less", asked_for, without_actor(was, to, by))

    test_a_mistake_is_seen(mutant)


def test_a_row_stands_in_the_table_once() -> None:
    assert len(BY_PAIR) == len(MOVES)
    assert all(move.by and move.when for move in MOVES)


def test_the_pairs_of_the_model_are_the_pairs_of_the_table() -> None:
    walked = {(e.before.status, e.after.status) for e in as_it_is().edges if e.why.moves}

    assert walked == set(BY_PAIR)


def test_everything_the_model_tells_of_happens() -> None:
    assert {edge.why for edge in as_it_is().edges} == set(SITUATIONS)


def test_every_reason_is_asked_and_every_answer_is_offered_somewhere() -> None:
    assert {config.reason for config in as_it_is().configs} == {None, *Reason}
    # Another recipient is chosen by an operation of its own, and asked about next.
    offered = {answer for answers in OPTIONS.values() for answer in answers}
    assert offered == set(ReviewAnswer) - {ReviewAnswer.READDRESS}


def test_the_views_show_each_status_the_seeds_name() -> None:
    tasks = [
        task_in(config.status, config.resume_to, config.reason, deleted=config.deleted)
        for config in as_it_is().configs
    ]

    assert {s3_status(task) for task in tasks} == {word for edge in S3_EDGES for word in edge}
    assert {s4_status(task) for task in tasks} == {word for edge in S4_DIAGRAM for word in edge}


def test_the_task_itself_moves_exactly_as_the_model_does() -> None:
    walked = {
        (e.before.status, e.before.resume_to, e.after.status, e.why.by)
        for e in as_it_is().edges
        if e.why.moves and e.before.status is not Status.NEEDS_REVIEW
    }
    waits = {(c.status, c.resume_to) for c in as_it_is().configs}

    moved = {
        (status, resume_to, to, by)
        for status, resume_to in waits
        if status is not Status.NEEDS_REVIEW
        for to in Status
        for by in Actor
        if _may_move(status, resume_to, to, by)
    }

    assert moved == walked


def _may_move(status: Status, resume_to: Status | None, to: Status, by: Actor) -> bool:
    try:
        return task_in(status, resume_to).move(to, by).status is to
    except IllegalMove:
        return False
