"""What must be true of every configuration and every edge; each check yields its errors."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import cache

from remit.model.review import OPTIONS
from remit.model.status import ACTIVE, PAUSABLE, TERMINAL, Actor, Reason, Status
from remit.model.task import Task
from tests.model.lifecycle_model import Edge, Graph, World
from tests.model.lifecycle_situations import Config
from tests.sample_task import sample_task

Check = Callable[[World, Graph], Iterator[str]]

_LONG_AGO = datetime(2026, 2, 22, 15, 30, tzinfo=UTC)
_MACHINES = frozenset(Actor) - {Actor.OWNER, Actor.META}
_EXECUTES = {Actor.EXECUTOR, Actor.VERIFIER, Actor.COURIER}

S3_EDGES = frozenset(
    {
        ("pending", "running"),
        ("running", "completed"),
        ("running", "failed"),
        ("running", "needs_review"),
        ("needs_review", "running"),
        ("pending", "paused"),
        ("paused", "pending"),
        ("running", "paused"),
        ("paused", "running"),
        ("pending", "deleted"),
        ("running", "deleted"),
        ("paused", "deleted"),
        ("needs_review", "deleted"),
        ("completed", "deleted"),
        ("failed", "deleted"),
        ("deleted", "completed"),  # restored
        ("deleted", "failed"),
    }
)
S4_DIAGRAM = frozenset(
    {
        ("NEW", "READY"),
        ("READY", "IN_PROGRESS"),
        ("IN_PROGRESS", "WAITING_HITL"),
        ("WAITING_HITL", "IN_PROGRESS"),
        ("IN_PROGRESS", "DONE"),
        ("NEW", "CANCELLED"),
        ("IN_PROGRESS", "CANCELLED"),
    }
)
# "* -> CANCELLED" is the human's and the meta agent's; a failure shows as CANCELLED too.
S4_EDGES: dict[tuple[str, str], set[Actor]] = {
    ("NEW", "READY"): {Actor.PRIORITISE},
    ("READY", "IN_PROGRESS"): {Actor.ENGINE},
    ("IN_PROGRESS", "WAITING_HITL"): _EXECUTES | {Actor.REAPER, Actor.OWNER},
    ("WAITING_HITL", "IN_PROGRESS"): {Actor.OWNER},
    ("IN_PROGRESS", "DONE"): _EXECUTES,
    ("NEW", "CANCELLED"): {Actor.OWNER, Actor.META, Actor.PRIORITISE},
    ("READY", "CANCELLED"): {Actor.OWNER, Actor.META},
    ("IN_PROGRESS", "CANCELLED"): {Actor.EXECUTOR, Actor.COURIER},
    ("WAITING_HITL", "CANCELLED"): {Actor.OWNER},
}


def every_status_is_reached(_: World, graph: Graph) -> Iterator[str]:
    for status in set(Status) - {config.status for config in graph.configs}:
        yield f"nothing ever becomes {status}"


def every_task_can_end(_: World, graph: Graph) -> Iterator[str]:
    ends = {config for config in graph.configs if config.status in TERMINAL}
    for config in graph.configs - _leading_to(ends, graph.edges):
        yield f"no way leads to an end from {config}"


def without_a_human_every_task_ends_or_waits(_: World, graph: Graph) -> Iterator[str]:
    rests = {config for config in graph.configs if _rests(config)}
    alone = [edge for edge in graph.edges if edge.why.by in _MACHINES]
    for config in graph.configs - _leading_to(rests, alone):
        yield f"left alone, nothing can come of {config}"


def left_alone_nothing_runs_in_circles(_: World, graph: Graph) -> Iterator[str]:
    """Remove what no machine leads to any more; what remains is a circle."""
    alone = [edge for edge in graph.edges if edge.why.by in _MACHINES]
    leads, into = defaultdict(list), Counter(edge.after for edge in alone)
    for edge in alone:
        leads[edge.before].append(edge.after)
    free = [config for config in graph.configs if not into[config]]
    while free:
        for after in leads[free.pop()]:
            into[after] -= 1
            if not into[after]:
                free.append(after)
    for config, count in into.items():
        if count:
            yield f"left alone, this comes back for ever: {config}"


def nothing_leaves_an_end(_: World, graph: Graph) -> Iterator[str]:
    for edge in graph.edges:
        before, after = edge.before, edge.after
        if before.status not in TERMINAL:
            continue
        if after != before._replace(deleted=not before.deleted) or edge.why.by is not Actor.OWNER:
            yield f"{_told(edge)} changes an ended task"


def only_the_owner_leaves_a_question_or_a_pause(_: World, graph: Graph) -> Iterator[str]:
    for edge in graph.edges:
        waits = edge.before.status in (Status.NEEDS_REVIEW, Status.PAUSED)
        if waits and edge.why.moves and edge.why.by is not Actor.OWNER:
            yield f"{_told(edge)} answers for the owner"


def completed_means_all_is_out(_: World, graph: Graph) -> Iterator[str]:
    for config in graph.configs:
        missing = config.unsent or config.sending or config.unknown or config.refused
        if config.status is Status.COMPLETED and missing:
            yield f"completed, but not all is out: {config}"


def what_is_sent_or_done_is_proven(_: World, graph: Graph) -> Iterator[str]:
    for config in graph.configs:
        claims = config.status in (Status.DELIVERING, Status.COMPLETED)
        if claims and config.checked and not config.proven:
            yield f"nobody proved {config}"


def a_doubtful_send_is_never_repeated_unasked(_: World, graph: Graph) -> Iterator[str]:
    for edge in graph.edges:
        before, after = edge.before, edge.after
        settled = before.unknown and not after.unknown
        again = after.unsent > before.unsent and edge.why.name != "not sent, may be tried again"
        if (settled or again) and edge.why.by is not Actor.OWNER:
            yield f"{_told(edge)} may send twice"


def nothing_is_interrupted_mid_send(_: World, graph: Graph) -> Iterator[str]:
    for config in graph.configs:
        if config.sending and config.status is not Status.DELIVERING:
            yield f"torn off the wire: {config}"


def only_an_ended_task_is_deleted(_: World, graph: Graph) -> Iterator[str]:
    for config in graph.configs:
        if config.deleted and config.status not in TERMINAL:
            yield f"deleted while alive: {config}"


def a_delivery_ends_as_what_it_was(_: World, graph: Graph) -> Iterator[str]:
    """Cancelled only on request with something unsent, failed only with something refused."""
    for edge in graph.edges:
        before, to = edge.before, edge.after.status
        if before.status is not Status.DELIVERING:
            continue
        if to is Status.CANCELLED and not (before.cancel and before.unsent):
            yield f"{_told(edge)} hides that all is out"
        if to is Status.FAILED and not before.refused:
            yield f"{_told(edge)} though nothing was refused"


def nothing_starts_early_or_with_an_open_question(_: World, graph: Graph) -> Iterator[str]:
    for config in graph.configs:
        if config.status in ACTIVE and not config.due:
            yield f"before its time: {config}"
        if config.status in ACTIVE | {Status.READY} and config.asked:
            yield f"with an open question: {config}"


def a_wait_knows_where_it_leads(_: World, graph: Graph) -> Iterator[str]:
    for config in graph.configs:
        match config.status:
            case Status.NEEDS_REVIEW:
                right = config.reason is not None and config.resume_to in ACTIVE - {
                    Status.VERIFYING
                }
            case Status.PAUSED:
                right = config.reason is None and config.resume_to in PAUSABLE
            case _:
                right = config.reason is None and config.resume_to is None
        if not right:
            yield f"does not say, or says too much: {config}"


def a_pause_ends_where_it_began(_: World, graph: Graph) -> Iterator[str]:
    for edge in graph.edges:
        ends = {edge.before.resume_to, Status.PAUSED, Status.CANCELLED}
        if edge.before.status is Status.PAUSED and edge.after.status not in ends:
            yield f"{_told(edge)} jumps out of a pause"


def every_question_and_every_answer_occurs(_: World, graph: Graph) -> Iterator[str]:
    given = {(edge.before.reason, edge.why.name) for edge in graph.edges}
    for reason, answers in OPTIONS.items():
        for answer in answers:
            if (reason, f"decides: {answer}") not in given:
                yield f"nobody ever answers {answer} to {reason}"


def the_first_view_is_a_projection(world: World, graph: Graph) -> Iterator[str]:
    drawn = {(world.s3(_task(e.before)), world.s3(_task(e.after))) for e in graph.edges}
    steps = {(was, to) for was, to in drawn if was != to}
    for was, to in steps - S3_EDGES:
        yield f"S3 knows no way from {was} to {to}"
    for was, to in S3_EDGES - steps:
        yield f"S3's way from {was} to {to} never occurs"


def the_second_view_is_a_projection(world: World, graph: Graph) -> Iterator[str]:
    steps = {
        (world.s4(_task(edge.before)), world.s4(_task(edge.after)), edge.why.by)
        for edge in graph.edges
    }
    for was, to, by in steps:
        if was != to and by not in S4_EDGES.get((was, to), set()):
            yield f"S4 knows no way from {was} to {to} by {by}"
    for was, to in S4_DIAGRAM - {(was, to) for was, to, _ in steps}:
        yield f"S4 draws {was} to {to}, and it never occurs"


def the_table_is_what_the_specification_asks_for(world: World, graph: Graph) -> Iterator[str]:
    happened = {edge.why.row for edge in graph.edges if edge.why.moves}
    for why in graph.refused:
        yield f"{why.name!r} may happen, but no row lets {why.by} move {why.was} to {why.to}"
    for why in graph.unexplained:
        yield f"the row {why.was} to {why.to} by {why.by} is asked for nowhere"
    for was, to, by in world.rows - happened:
        yield f"the row {was} to {to} by {by} is dead"


CHECKS: tuple[Check, ...] = (
    every_status_is_reached,
    every_task_can_end,
    without_a_human_every_task_ends_or_waits,
    left_alone_nothing_runs_in_circles,
    nothing_leaves_an_end,
    only_the_owner_leaves_a_question_or_a_pause,
    completed_means_all_is_out,
    what_is_sent_or_done_is_proven,
    a_doubtful_send_is_never_repeated_unasked,
    nothing_is_interrupted_mid_send,
    only_an_ended_task_is_deleted,
    a_delivery_ends_as_what_it_was,
    nothing_starts_early_or_with_an_open_question,
    a_wait_knows_where_it_leads,
    a_pause_ends_where_it_began,
    every_question_and_every_answer_occurs,
    the_first_view_is_a_projection,
    the_second_view_is_a_projection,
    the_table_is_what_the_specification_asks_for,
)


def task_in(
    status: Status,
    resume_to: Status | None = None,
    reason: Reason | None = None,
    *,
    deleted: bool = False,
) -> Task:
    """Build the production task of a configuration."""
    return sample_task(
        at=_LONG_AGO,
        status=status,
        reason=reason,
        resume_to=resume_to,
        deleted_at=_LONG_AGO if deleted else None,
    )


_cached = cache(task_in)


def _task(config: Config) -> Task:
    return _cached(config.status, config.resume_to, config.reason, deleted=config.deleted)


def _rests(config: Config) -> bool:
    """Whether it is an end, or a declared wait for the owner."""
    waits = (Status.NEEDS_REVIEW, Status.PAUSED)
    asked = config.status is Status.NEW and config.asked
    return config.status in TERMINAL or config.status in waits or asked


def _leading_to(ends: Iterable[Config], edges: Iterable[Edge]) -> set[Config]:
    back = defaultdict(list)
    for edge in edges:
        back[edge.after].append(edge.before)
    found, queue = set(ends), list(ends)
    while queue:
        fresh = [config for config in back[queue.pop()] if config not in found]
        found.update(fresh)
        queue.extend(fresh)
    return found


def _told(edge: Edge) -> str:
    return f"{edge.why.by} ({edge.why.name}): {edge.before.status} to {edge.after.status}"
