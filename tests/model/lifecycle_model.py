"""Every configuration a task can be in, explored from the production table and the guards.

The table says which moves exist and who may make them; the situations say when they happen and
what they change. A row of the table without a situation is explored unguarded, a situation
without a row is kept as refused: so a change of the table changes what is reachable.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from msgspec import Struct

from remit.model.status import MOVES, Actor, Move, Status
from remit.model.task import Task
from remit.model.view import s3_status, s4_status
from tests.model.lifecycle_situations import FIRST, SITUATIONS, Config, Situation, always, same


class Edge(NamedTuple):
    before: Config
    why: Situation
    after: Config


class World(Struct, frozen=True):
    """What is examined: the table, when its moves happen, and the two published views."""

    table: tuple[Move, ...] = MOVES
    situations: tuple[Situation, ...] = SITUATIONS
    s3: Callable[[Task], str] = s3_status
    s4: Callable[[Task], str] = s4_status

    @property
    def rows(self) -> frozenset[tuple[Status, Status, Actor]]:
        return frozenset((move.was, move.to, by) for move in self.table for by in move.by)


@dataclass(frozen=True)
class Graph:
    configs: frozenset[Config]
    edges: tuple[Edge, ...]
    refused: frozenset[Situation]  # would happen, but the table has no row for it
    unexplained: frozenset[Situation]  # in the table, but nothing in the specification asks for it


def explore(world: World) -> Graph:
    """Visit every configuration that can be reached from a new task."""
    unexplained = tuple(_unexplained(world))
    by_status: dict[Status, list[Situation]] = {status: [] for status in Status}
    for situation in (*world.situations, *unexplained):
        by_status[situation.was].append(situation)
    seen, queue, edges, refused = set(FIRST), deque(FIRST), list[Edge](), set[Situation]()
    rows = world.rows
    while queue:
        config = queue.popleft()
        for why in by_status[config.status]:
            if not why.when(config):
                continue
            if why.moves and why.row not in rows:
                refused.add(why)
                continue
            after = _after(config, why)
            edges.append(Edge(config, why, after))
            if after not in seen:
                seen.add(after)
                queue.append(after)
    return Graph(frozenset(seen), tuple(edges), frozenset(refused), frozenset(unexplained))


def _after(config: Config, why: Situation) -> Config:
    if not why.moves:
        return why.then(config)
    keeps = why.to in (Status.NEEDS_REVIEW, Status.PAUSED)
    changed = why.then(config)._replace(status=why.to)
    return changed if keeps else changed._replace(resume_to=None, reason=None)


def _unexplained(world: World) -> Iterable[Situation]:
    known = {situation.row for situation in world.situations}
    for was, to, by in sorted(world.rows - known):
        yield Situation("a row nobody asked for", by, was, to, always, same)
