"""What must hold in every state of a delivery, and the walk that visits all of them."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from remit.delivery.courier import Courier
from tests.delivery.delivery_app import App, Sort
from tests.delivery.delivery_model import ENDS, Model
from tests.delivery.delivery_words import By, Edge, Limits, Message, State, View

OUT: Final = (Message.TAKEN, Message.FAILED)
MAY_ARRIVE: Final = (Message.TAKEN, Message.FLYING)

Check: TypeAlias = Callable[[State, View], bool]


@dataclass
class Walk:
    """How much was visited, and the shortest path to the first error."""

    states: int = 0
    steps: int = 0
    calls: int = 0  # of the store's verbs, each in its own place
    wrong: str | None = None
    way: list[str] = field(default_factory=list)
    met: set[str] = field(default_factory=set)  # every kind of step taken
    ends: set[tuple[str, str]] = field(default_factory=set)  # of the task, and of the delivery


def never_more_accepted_than_one_and_the_owners_resends(state: State, _: View) -> bool:
    return sum(each in OUT for each in state.messages) <= 1 + state.resent


def sent_means_accepted_or_the_owners_word(state: State, view: View) -> bool:
    accepted = any(each in OUT for each in state.messages)
    return view.delivery["status"] != "sent" or accepted or state.confirmed


def refused_means_that_the_last_send_is_not_out(state: State, view: View) -> bool:
    """An earlier send may be out, if the owner resent it despite the doubt."""
    if view.delivery["status"] != "refused" or state.dropped:
        return True
    last = len(view.attempts) if state.resent else 1
    sends = zip(state.attempts, state.messages, strict=True)
    return not any(message in MAY_ARRIVE for n, message in sends if n >= last)


def an_order_to_send_again_is_not_answered_by_old_news(state: State, view: View) -> bool:
    """Each resend is tried, unless it turns out that the message had arrived."""
    if view.delivery["status"] != "refused" or state.dropped:
        return True
    return len(view.attempts) >= 1 + state.resent


def completed_means_sent(_: State, view: View) -> bool:
    return view.task["status"] != "completed" or view.delivery["status"] == "sent"


def failed_means_refused(_: State, view: View) -> bool:
    return view.task["status"] != "failed" or view.delivery["status"] == "refused"


def nothing_ends_in_the_middle_of_a_send(_: State, view: View) -> bool:
    rests = view.task["status"] in ENDS or view.task["reason"] == "ambiguous"
    return not rests or view.delivery["status"] != "sending"


def who_waits_for_the_owner_has_asked_him(_: State, view: View) -> bool:
    asked = any(each["decided_at"] is None for each in view.reviews)
    return view.task["status"] != "needs_review" or asked


def a_doubt_is_a_claim_without_an_answer(state: State, view: View) -> bool:
    """Without a cut only a send without an answer is unknown."""
    if view.delivery["status"] != "unknown":
        return True
    return bool(view.attempts) and (state.cut or view.attempts[-1]["answer"] == "unknown")


CHECKS: Final[tuple[Check, ...]] = (
    never_more_accepted_than_one_and_the_owners_resends,
    sent_means_accepted_or_the_owners_word,
    refused_means_that_the_last_send_is_not_out,
    an_order_to_send_again_is_not_answered_by_old_news,
    completed_means_sent,
    failed_means_refused,
    nothing_ends_in_the_middle_of_a_send,
    who_waits_for_the_owner_has_asked_him,
    a_doubt_is_a_claim_without_an_answer,
)


def walk(
    sort: Sort,
    limits: Limits,
    *,
    protocol: type[Courier] = Courier,
    wrong: Mapping[str, str] | None = None,
) -> Walk:
    """Visit everything, nearest first; stop at the first error."""
    with closing(App(sort, protocol, wrong)) as app:
        model, found = Model(app, sort), Walk()
        first = model.first(limits)
        came: dict[State, tuple[State, str] | None] = {first: None}
        back: dict[State, list[tuple[State, By]]] = defaultdict(list)
        queue = deque([first])
        while queue and found.wrong is None:
            state = queue.popleft()
            found.wrong = _complaint(state, model)
            if found.wrong is not None:
                found.way = _way(came, state)
            for edge in model.steps(state):
                _note(found, back, state, edge)
                if edge.to not in came:
                    came[edge.to] = (state, edge.what)
                    queue.append(edge.to)
        if found.wrong is None:
            _look_for_the_stuck(found, model, came, back)
        found.states, found.calls = len(came), app.calls
        found.ends = {_ends(model, state) for state in came if _rests(model, state)}
        return found


def _note(found: Walk, back: dict[State, list[tuple[State, By]]], state: State, edge: Edge) -> None:
    found.steps += 1
    found.met.add(edge.what.removeprefix("wrk-1 ").removeprefix("wrk-2 "))
    back[edge.to].append((state, edge.by))


def _complaint(state: State, model: Model) -> str | None:
    view = model.views[state.store]
    return next((check.__name__ for check in CHECKS if not check(state, view)), None)


def _look_for_the_stuck(
    found: Walk,
    model: Model,
    came: dict[State, tuple[State, str] | None],
    back: dict[State, list[tuple[State, By]]],
) -> None:
    """From every state, without luck or help, an end or a question must be reachable."""
    rests = {state for state in came if _rests(model, state)}
    ends = {state for state in rests if model.views[state.store].task["status"] in ENDS}
    for goal, who, complaint in (
        (rests, (By.ITSELF,), "it is stuck, and nobody was asked"),
        (ends, (By.ITSELF, By.OWNER), "no answer of the owner brings it to an end"),
    ):
        reached = _reached(goal, who, back)
        stuck = next((state for state in came if state not in reached), None)
        if stuck is not None:
            found.wrong, found.way = complaint, _way(came, stuck)
            return


def _reached(
    goal: set[State], who: tuple[By, ...], back: dict[State, list[tuple[State, By]]]
) -> set[State]:
    reached, queue = set(goal), deque(goal)
    while queue:
        for before, by in back[queue.popleft()]:
            if by in who and before not in reached:
                reached.add(before)
                queue.append(before)
    return reached


def _rests(model: Model, state: State) -> bool:
    return str(model.views[state.store].task["status"]) in ENDS | {"needs_review"}


def _ends(model: Model, state: State) -> tuple[str, str]:
    view = model.views[state.store]
    return str(view.task["status"]), str(view.delivery["status"])


def _way(came: dict[State, tuple[State, str] | None], state: State) -> list[str]:
    def steps() -> Iterator[str]:
        at = came[state]
        while at is not None:
            yield at[1]
            at = came[at[0]]

    return [*steps()][::-1]
