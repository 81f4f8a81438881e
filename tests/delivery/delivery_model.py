"""Every way that one delivery can go, walked to the end over the production code.

Two processes, each of which may be killed between any two effects; a process that is taken for dead
while it lives; a provider that accepts, refuses, asks to wait, loses its answer, accepts a request
long after the timeout, and reports early, late and twice; and an owner who confirms, resends, drops
or cancels. A verb is not modelled: it is run. A channel that recognises a message by its key gets
an unknown one again, as a separate request that may be lost, late, or refused.
"""

from collections.abc import Iterator
from typing import Final

from remit.model.delivery import Accepted, Found, Locked, Refused, SendRetry, Unknown
from remit.model.review import OPTIONS, ReviewAnswer
from remit.model.status import Reason
from remit.store.database import Cell
from remit.store.queue import ClaimedTask
from tests.delivery.delivery_app import NOW, App, Ask, Rows, Sort, Verb
from tests.delivery.delivery_words import NOT_YET, YES, By, Edge, Leg, Limits, Message, State, View

WORKERS: Final = ("wrk-1", "wrk-2")
MOST_LOST: Final = 2  # otherwise resends after each loss would go on until the attempts are used up
ENDS: Final = frozenset({"completed", "failed", "cancelled"})


def _facts(task: dict[str, Cell], delivery: dict[str, Cell]) -> tuple[Cell, ...]:
    names = ("status", "reason", "resume_to", "due_at", "worker", "lease", "attempts", "crashes")
    kept = tuple(task[name] for name in (*names, "wish"))
    return kept + tuple(delivery[name] for name in ("status", "reported", "doubted_at"))


class Model:
    def __init__(self, app: App, sort: Sort) -> None:
        self._app = app
        self._sort = sort
        self._stores: list[Rows] = []
        self._numbers: dict[object, int] = {}
        self.views: list[View] = []
        self._places: list[tuple[ClaimedTask, tuple[object, ...]]] = []
        self._wants: list[Verb | Ask | None] = []
        self._done: dict[tuple[object, ...], tuple[int, object]] = {}
        self._steps: dict[tuple[int, object], int] = {}

    # What is known ------------------------------------------------------------------------------

    def _number(self, rows: Rows) -> int:
        """Return one number for stores that differ in nothing relevant."""
        (task,), (delivery,) = (self._app.table(rows, "tasks"), self._app.table(rows, "deliveries"))
        asked = self._app.table(rows, "reviews")
        attempts = self._app.table(rows, "attempts")
        key = (
            _facts(task, delivery),
            tuple((each["n"], each["lease"], each["answer"]) for each in attempts),
            tuple((each["key"], each["answer"], each["decided_at"] is None) for each in asked),
        )
        if key not in self._numbers:
            self._numbers[key] = len(self._stores)
            self._stores.append(rows)
            self.views.append(View(task, delivery, asked, attempts))
        return self._numbers[key]

    def _cached(self, key: tuple[object, ...], rows: Rows, said: object) -> tuple[int, object]:
        self._done[key] = (self._number(rows), said)
        return self._done[key]

    def first(self, limits: Limits) -> State:
        return State(self._number(self._app.first()), (None, None), (), limits)

    # What can happen ----------------------------------------------------------------------------

    def steps(self, state: State) -> Iterator[Edge]:
        yield from self._process(state, 0)
        if state.legs != (None, None):  # two idle processes are alike
            yield from self._process(state, 1)
        yield from self._provider(state)
        yield from self._time(state)
        yield from self._owner(state)

    def _process(self, state: State, n: int) -> Iterator[Edge]:
        leg = state.legs[n]
        if leg is None:
            yield from self._starts(state, n)
            return
        if state.left.kills:
            left = state.left._replace(kills=state.left.kills - 1)
            dead = _with(state, n, None, left=left)._replace(cut=True)
            yield Edge(By.MISFORTUNE, f"{WORKERS[n]} is killed", dead)
        want = self._wants[leg.place]
        match want:
            case Verb():
                store, said = self._verb(state.store, leg.place, want)
                to = _with(state, n, self._on(leg.place, said), store=store)
                yield Edge(By.ITSELF, f"{WORKERS[n]} {want.name}", to)
            case Ask("send") if leg.waits_for is None:
                yield from self._sends(state, n, leg)
            case Ask("send"):
                yield from self._answers(state, n, leg)
            case Ask():
                yield from self._finds(state, n, leg)
            case None:
                raise AssertionError(leg)  # a leg at its end is gone

    def _starts(self, state: State, n: int) -> Iterator[Edge]:
        """An idle process claims what is due, or releases what a dead one held."""
        task = self.views[state.store].task
        rows, name = self._stores[state.store], WORKERS[n]
        if task["worker"] is None:
            key = ("claim", state.store, n)
            if key not in self._done:
                after, claim = self._app.claims(rows, name)
                place = None if claim is None else self._place(claim, ())
                self._cached(key, after, place)
            store, found = self._done[key]
            if isinstance(found, int):
                to = _with(state, n, Leg(found), store=store)
                yield Edge(By.ITSELF, f"{name} claims", to)
        else:
            yield from self._frees(state, n, str(task["worker"]))

    def _frees(self, state: State, n: int, holder: str) -> Iterator[Edge]:
        lives = state.legs[WORKERS.index(holder)] is not None
        # A killed process starts again under another name.
        other = f"{holder}, anew" if holder == WORKERS[n] else WORKERS[n]
        if lives and not state.left.takeovers:
            return
        key = ("free", state.store, other)
        if key not in self._done:
            self._cached(key, self._app.releases(self._stores[state.store], other), None)
        left = state.left
        if lives:
            left = left._replace(takeovers=left.takeovers - 1)
        by, what = (By.MISFORTUNE, "takes over") if lives else (By.ITSELF, "frees")
        to = state._replace(store=self._done[key][0], left=left, cut=True)
        yield Edge(by, f"{WORKERS[n]} {what}", to)

    def _sends(self, state: State, n: int, leg: Leg) -> Iterator[Edge]:
        messages = (*state.messages, self._flying(state))
        waits = Leg(leg.place, len(state.messages))
        heard = self._places[leg.place][1]
        attempt = max((said for said in heard if type(said) is int), default=0)
        to = _with(state, n, waits, messages=messages)
        sent = to._replace(attempts=(*state.attempts, attempt))
        yield Edge(By.ITSELF, f"{WORKERS[n]} sends", sent)
        if state.left.rebuffs:
            left = state.left._replace(rebuffs=state.left.rebuffs - 1)
            place = self._heard(leg.place, SendRetry("no way there", 3600))
            to = _with(state, n, Leg(place), left=left)
            yield Edge(By.MISFORTUNE, f"{WORKERS[n]} finds no way there", to)

    def _flying(self, state: State) -> Message:
        knows = self._sort.gives and not self._sort.forgets
        there = any(each in (Message.TAKEN, Message.FAILED) for each in state.messages)
        return Message.KNOWN if knows and there else Message.FLYING

    def _finds(self, state: State, n: int, leg: Leg) -> Iterator[Edge]:
        if not self._sort.gives:
            to = _with(state, n, Leg(self._heard(leg.place, self._seen(state))))
            yield Edge(By.ITSELF, f"{WORKERS[n]} looks", to)
        elif leg.waits_for is None:
            yield self._gives(state, n, leg)
        else:
            yield from self._given(state, n, leg)

    def _seen(self, state: State) -> Found | None:
        """Return what a lookup says about everything received so far."""
        asked = self._sort.looks or self._sort.files
        if asked and Message.TAKEN in state.messages:
            return Accepted("found")
        if asked and Message.FAILED in state.messages:
            return Refused("it came back")
        waits = Message.FLYING in state.messages
        return SendRetry("it never left", 3600) if self._sort.files and not waits else None

    def _gives(self, state: State, n: int, leg: Leg) -> Edge:
        """Send the unknown message again under its key; that needs no claim."""
        messages = (*state.messages, self._flying(state))
        to = _with(state, n, Leg(leg.place, len(state.messages)), messages=messages)
        attempt = len(self.views[state.store].attempts)
        given = to._replace(attempts=(*state.attempts, attempt))
        return Edge(By.ITSELF, f"{WORKERS[n]} gives it again", given)

    def _given(self, state: State, n: int, leg: Leg) -> Iterator[Edge]:
        """Yield what the process hears of the message it sent again."""
        assert leg.waits_for is not None
        at, name = leg.waits_for, WORKERS[n]
        nothing = Leg(self._heard(leg.place, None))
        yield Edge(By.ITSELF, f"{name} hears nothing of it", _with(state, n, nothing))
        if state.messages[at] in YES:
            taken = Leg(self._heard(leg.place, Accepted(f"ref-{at}")))
            yield Edge(By.ITSELF, f"{name} hears that it is there", _with(state, n, taken))
        if state.messages[at] in NOT_YET and state.left.rebuffs:
            left = state.left._replace(rebuffs=state.left.rebuffs - 1)
            messages = _put(state.messages, at, Message.LOST)
            said = Refused("never") if self._sort.hasty else None
            no = Leg(self._heard(leg.place, said))
            to = _with(state, n, no, messages=messages, left=left)
            yield Edge(By.MISFORTUNE, f"{name} hears a no to it", to)

    def _answers(self, state: State, n: int, leg: Leg) -> Iterator[Edge]:
        """Yield what the process hears of its request."""
        assert leg.waits_for is not None
        at, name = leg.waits_for, WORKERS[n]
        unknown = Leg(self._heard(leg.place, Unknown("no answer")))
        yield Edge(By.ITSELF, f"{name} hears nothing, or a 5xx", _with(state, n, unknown))
        if state.messages[at] in YES:
            taken = Leg(self._heard(leg.place, Accepted(f"ref-{at}")))
            yield Edge(By.ITSELF, f"{name} hears yes", _with(state, n, taken))
        if state.messages[at] in NOT_YET and state.left.rebuffs:
            left = state.left._replace(rebuffs=state.left.rebuffs - 1)
            messages = _put(state.messages, at, Message.LOST)
            for said in (SendRetry("busy", 3600), Refused("never"), Locked("expired")):
                to = _with(
                    state, n, Leg(self._heard(leg.place, said)), messages=messages, left=left
                )
                yield Edge(By.MISFORTUNE, f"{name} hears {type(said).__name__}", to)

    def _provider(self, state: State) -> Iterator[Edge]:
        for at, message in enumerate(state.messages):
            if message is Message.FLYING:
                taken = state._replace(messages=self._taken(state.messages, at))
                yield Edge(By.ITSELF, "the provider accepts", taken)
                if state.messages.count(Message.LOST) < MOST_LOST:
                    lost = state._replace(messages=_put(state.messages, at, Message.LOST))
                    yield Edge(By.MISFORTUNE, "a request is lost", lost)
            elif message in (Message.TAKEN, Message.FAILED) and state.left.reports:
                left = state.left._replace(reports=state.left.reports - 1)
                if message is Message.TAKEN:
                    to = state._replace(store=self._report(state.store, at, True), left=left)
                    yield Edge(By.MISFORTUNE, "a report: it arrived", to)
                messages = _put(state.messages, at, Message.FAILED)
                failed = state._replace(store=self._report(state.store, at, False), left=left)
                yield Edge(By.MISFORTUNE, "a report: failed", failed._replace(messages=messages))

    def _taken(self, messages: tuple[Message, ...], at: int) -> tuple[Message, ...]:
        """Where keys are recognised, other requests in flight have no further effect."""
        taken = _put(messages, at, Message.TAKEN)
        if not self._sort.gives or self._sort.forgets:
            return taken
        known = (Message.KNOWN if each is Message.FLYING else each for each in taken)
        return tuple(known)

    def _time(self, state: State) -> Iterator[Edge]:
        task = self.views[state.store].task
        due = task["due_at"]
        if task["worker"] is None and isinstance(due, int) and due > NOW.timestamp() * 1000:
            key = ("later", state.store)
            if key not in self._done:
                self._cached(key, self._app.later(self._stores[state.store]), None)
            yield Edge(By.ITSELF, "time passes", state._replace(store=self._done[key][0]))

    def _owner(self, state: State) -> Iterator[Edge]:
        task, asked = self.views[state.store].task, self.views[state.store].reviews
        for review in asked:
            if review["decided_at"] is None:
                for answer in OPTIONS[Reason(str(review["reason"]))]:
                    yield from self._says(state, str(review["id"]), answer)
        if state.left.cancels and task["status"] not in ENDS:
            key = ("cancel", state.store)
            if key not in self._done:
                self._cached(key, self._app.cancelled(self._stores[state.store]), None)
            left = state.left._replace(cancels=state.left.cancels - 1)
            to = state._replace(store=self._done[key][0], left=left)
            yield Edge(By.OWNER, "the owner cancels", to)

    def _says(self, state: State, review: str, answer: ReviewAnswer) -> Iterator[Edge]:
        left = state.left
        if answer is ReviewAnswer.RESEND:
            if not left.resends:
                return
            left = left._replace(resends=left.resends - 1)
        key = ("decide", state.store, review, answer)
        if key not in self._done:
            rows = self._stores[state.store]
            self._cached(key, self._app.decided(rows, review, answer), None)
        to = state._replace(
            store=self._done[key][0],
            left=left,
            resent=state.resent + (answer is ReviewAnswer.RESEND),
            confirmed=state.confirmed or answer is ReviewAnswer.ARRIVED,
            dropped=state.dropped or answer in (ReviewAnswer.DROP, ReviewAnswer.DECLINE),
        )
        yield Edge(By.OWNER, f"the owner says {answer.value}", to)

    # The production code, each thing once -------------------------------------------------------

    def _place(self, claim: ClaimedTask, heard: tuple[object, ...]) -> int:
        self._places.append((claim, heard))
        self._wants.append(self._app.wants(claim, heard))
        return len(self._places) - 1

    def _heard(self, place: int, said: object) -> int:
        """Return where a leg is after this answer."""
        key = (place, repr(said))
        if key not in self._steps:
            claim, heard = self._places[place]
            self._steps[key] = self._place(claim, (*heard, said))
        return self._steps[key]

    def _on(self, place: int, said: object) -> Leg | None:
        """Return the leg after this; None at its end."""
        then = self._heard(place, said)
        return None if self._wants[then] is None else Leg(then)

    def _verb(self, store: int, place: int, want: Verb) -> tuple[int, object]:
        key = ("verb", store, place)
        if key not in self._done:
            rows, said = self._app.does(self._stores[store], want.work)
            self._cached(key, rows, said)
        return self._done[key]

    def _report(self, store: int, at: int, arrived: bool) -> int:
        key = ("report", store, at, arrived)
        if key not in self._done:
            rows = self._app.reported(self._stores[store], f"ref-{at}", arrived)
            self._cached(key, rows, None)
        return self._done[key][0]


def _with(
    state: State,
    n: int,
    leg: Leg | None,
    *,
    store: int | None = None,
    left: Limits | None = None,
    messages: tuple[Message, ...] | None = None,
) -> State:
    one, two = state.legs
    return state._replace(
        legs=(leg, two) if n == 0 else (one, leg),
        store=state.store if store is None else store,
        left=state.left if left is None else left,
        messages=state.messages if messages is None else messages,
    )


def _put(messages: tuple[Message, ...], at: int, to: Message) -> tuple[Message, ...]:
    return (*messages[:at], to, *messages[at + 1 :])
