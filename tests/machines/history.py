"""Judges a history from outside: by what the receivers got and what the journal says, no more.

It knows nothing of our code. The journal is a list of records as `GET /api/events` tells them, and
the receivers' log has the key of each message that was accepted, as often as it was.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, convert

AT_REST = {"completed", "failed", "cancelled", "needs_review", "paused"}


class Record(Struct, frozen=True, rename={"task": "taskId", "n": "turnNumber"}):
    seq: int
    task: str | None
    n: int
    kind: str
    hash: str
    data: Mapping[str, object]


def read_journal(told: object) -> list[Record]:
    return convert(told, list[Record])


def complaints(
    journal: Sequence[Record], accepted: Iterable[str], *, over: bool = False
) -> Iterator[str]:
    """Yield a sentence for everything that must not be; `over`: every doubt had its time."""
    yield from _disorder(journal)
    yield from _zombies(journal)
    yield from _wrong_doubts(journal, over=over)
    yield from _forgotten_answers(journal)
    yield from _doubled_words(journal)
    yield from (f"{each}: nobody answered" for each in unanswered(journal))
    yield from _wrong_sends(journal, Counter(accepted))


def summary(journal: Sequence[Record], accepted: Sequence[str]) -> str:
    """Return what happened in numbers."""
    kinds = Counter(each.kind for each in journal)
    crashed = sum(each.data.get("outcome") == "crashed" for each in journal)
    doubts = sum(each.data.get("answer") == "unknown" for each in journal)
    late = sum(bool(each.data.get("late")) for each in journal)
    return (
        f"{kinds['task.created']} tasks, {len(accepted)} messages accepted, {len(journal)} events, "
        f"{crashed} legs died, {doubts} sends in doubt, {late} late answers, "
        f"{len(accepted) - len(set(accepted))} accepted twice, {len(unsettled(journal))} unsettled"
    )


def about(journal: Sequence[Record], complaint: str) -> str:
    """Return a complaint with the events of the tasks that it names, or of their deliveries."""
    named = {
        each.task
        for each in journal
        if each.task
        and any(
            str(name) in complaint for name in (each.task, each.data.get("delivery", each.task))
        )
    }
    return "\n".join([complaint, *(str(each) for each in journal if each.task in named)])


def unsettled(journal: Sequence[Record]) -> set[str]:
    """Return the tasks that have not ended and do not wait for the owner."""
    last: dict[str, object] = {each.task: "new" for each in journal if each.task}
    last |= {str(each.task): each.data["to"] for each in journal if each.kind == "task.moved"}
    return {task for task, status in last.items() if status not in AT_REST}


def unanswered(journal: Sequence[Record]) -> set[str]:
    """Return the conversations in which the owner spoke and got no answer."""
    turns = [each.data for each in journal if each.kind == "turn.said"]
    spoke: dict[object, set[object]] = {each["conversation"]: set() for each in turns}
    for each in turns:
        spoke[each["conversation"]].add(each["role"])
    return {str(talk) for talk, roles in spoke.items() if roles == {"user"}}


def _disorder(journal: Sequence[Record]) -> Iterator[str]:
    """One sequence without a gap, and one in each task."""
    if [each.seq for each in journal] != list(range(1, len(journal) + 1)):
        yield "the journal has a gap, or tells something twice"
    if len({each.hash for each in journal}) != len(journal):
        yield "two events have one hash"
    seen: Counter[str] = Counter()
    for each in journal:
        if each.task:
            seen[each.task] += 1
            if each.n != seen[each.task]:
                yield f"event {each.seq} of {each.task} is out of order"


def _zombies(journal: Sequence[Record]) -> Iterator[str]:
    """Who lost the lease writes nothing more: every step belongs to the newest run of its task."""
    runs: dict[str | None, object] = {}
    leases: dict[str | None, int] = {}
    for each in journal:
        run, lease = each.data.get("run"), each.data.get("lease")
        if isinstance(lease, int) and run:
            if lease <= leases.get(each.task, 0):
                yield f"{each.task}: lease {lease} came after {leases[each.task]}"
            leases[each.task], runs[each.task] = lease, run
        elif each.kind == "step.done" and run != runs.get(each.task):
            yield f"{each.task}: a step of a run that was replaced, at {each.seq}"


def _wrong_doubts(journal: Sequence[Record], *, over: bool) -> Iterator[str]:
    """What is in doubt is exactly what was cut: claimed, and no answer written down.

    An answer that is late came to a worker that had lost the task: the send was cut, and is known.
    """
    cut: set[object] = set()
    silent: set[object] = set()
    for each in journal:
        delivery, answer = each.data.get("delivery"), each.data.get("answer")
        if each.kind == "delivery.claimed":
            cut.add(delivery)
            silent.add(delivery)
        elif each.kind == "delivery.settled":
            silent.discard(delivery)
            if answer == "unknown" and delivery not in cut:
                yield f"{delivery} is in doubt, and its answer was known, at {each.seq}"
            if answer != "unknown" and not each.data.get("late"):
                cut.discard(delivery)
    if over and silent:
        yield f"claimed and never settled: {sorted(map(str, silent))}"


def _forgotten_answers(journal: Sequence[Record]) -> Iterator[str]:
    """What a worker learned after it had lost the task settles the doubt."""
    told = [each.data for each in journal if each.kind == "delivery.settled"]
    last = {data["delivery"]: data["answer"] for data in told}
    for data in told:
        late = data.get("late") and data["answer"] == "accepted"
        if late and last[data["delivery"]] == "unknown":
            yield f"{data['delivery']} was accepted, as a late answer told, and is in doubt"


def _doubled_words(journal: Sequence[Record]) -> Iterator[str]:
    """Whoever answers in conversations does so once: an answer, a result, and each question."""
    turns = [each.data for each in journal if each.kind == "turn.said"]
    told = Counter(str(each["tasks"]) for each in turns if each["role"] == "assistant")
    asked = Counter(f"['{each.task}']" for each in journal if each.kind == "review.opened")
    for tasks, times in told.items():
        if "task-" in tasks and times > 2 + asked[tasks]:
            yield f"{tasks}: {times} answers in a conversation"


def _wrong_sends(journal: Sequence[Record], accepted: Counter[str]) -> Iterator[str]:
    """Nothing twice, nothing unordered, and nothing told that did not happen."""
    told = [(each.kind, each.data) for each in journal]
    claims = {data["delivery"] for kind, data in told if kind == "delivery.claimed"}
    answers = {d["delivery"]: d["answer"] for kind, d in told if kind == "delivery.settled"}
    about = {data["review"]: data.get("about") for kind, data in told if kind == "review.opened"}
    decided = (data for kind, data in told if kind == "review.decided")
    resends = Counter(about.get(d["review"]) for d in decided if d["answer"] == "resend")
    for key, times in accepted.items():
        if times > 1 + resends[key]:
            yield f"{key} was accepted {times} times"
        if key not in claims:
            yield f"{key} went out without a claim"
        if answers.get(key) in ("refused", "retry"):
            yield f"{key} is said not to be sent, and somebody got it"
    for lost in claims - accepted.keys():
        if answers.get(lost) == "accepted":
            yield f"{lost} is said to be sent, and nobody got it"
