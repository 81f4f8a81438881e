"""Work that one process does at a time, and limits that several keep together."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from remit.channels.parts import SendRate
from remit.language.sentences import in_language
from remit.model.delivery import SendCap
from remit.model.ids import WorkerId
from remit.model.status import Reason, Status
from remit.operations.callers import SignInLimiter
from remit.server.web import settings_sections
from remit.settings import EngineSettings, Settings
from remit.settings.parts import EngineKind
from remit.store import deliveries, queue, tasks
from remit.store.postgres import duties, legs
from remit.store.postgres.database import SharedPostgres
from remit.store.postgres.duties import DutyLost, FencedDatabase
from remit.store.postgres.legs import DISPATCHED, WorkerState
from remit.store.queue import ClaimFilter
from remit.store.spending import Rates
from remit.testing import FrozenClock
from tests.store.scene import AT, BODY, DIGEST, WORKER, PostgresScene

NAMES = {"": "remit", "code": "remit-code"}
AT_ONCE = timedelta(0)


async def test_who_was_replaced_writes_nothing_more(maker: PostgresScene) -> None:
    db = SharedPostgres(maker.url, process_clock=True)
    first = await db.write(duties.take_over, "series", WorkerId("wrk-1"), AT)
    old = FencedDatabase(db, "series", first)
    await old.write(tasks.admit, maker.task())
    second = await db.write(duties.take_over, "series", WorkerId("wrk-2"), AT)
    new = FencedDatabase(db, "series", second)
    with pytest.raises(DutyLost, match="taken over"):
        await old.write(tasks.admit, maker.task())
    await new.write(tasks.admit, maker.task())
    await db.close()

    assert maker.sql("SELECT COUNT(*) AS n FROM tasks") == [{"n": 2}]
    assert maker.complaints() == []


def test_a_leg_begins_once_and_is_released_once(maker: PostgresScene) -> None:
    task = maker.ready()
    (claim,) = maker.claim(DISPATCHED)
    lease = claim.lease.number
    begun = maker.do(legs.begin, task.id, lease, WORKER, AT)
    assert begun is not None
    assert (begun.lease.worker, begun.lease.number) == (WORKER, lease)
    assert maker.do(legs.begin, task.id, lease, WorkerId("wrk-2"), AT) is None
    assert maker.do(legs.begin, task.id, lease, WORKER, AT) == begun  # it did not hear the answer
    assert [each.begun for each in legs.held(maker.tx, AT)] == [True]

    released = [maker.do(legs.release, task.id, lease, maker.ids.review(), AT) for _ in range(2)]

    assert released == [True, False]
    assert (maker.get(task.id).crashes, legs.held(maker.tx, AT)) == (1, [])
    assert maker.complaints() == []


def test_a_task_at_which_three_workers_died_waits_for_the_owner(maker: PostgresScene) -> None:
    task = maker.ready()
    for _ in range(3):
        (claim,) = maker.claim(DISPATCHED)
        maker.do(legs.begin, task.id, claim.lease.number, WORKER, AT)
        maker.do(legs.release, task.id, claim.lease.number, maker.ids.review(), AT)

    found = maker.get(task.id)
    assert (found.status, found.reason) == (Status.NEEDS_REVIEW, Reason.POISON)
    assert maker.claim(DISPATCHED) == []


def test_a_leg_that_was_lost_on_its_way_to_a_worker_is_no_death(maker: PostgresScene) -> None:
    task = maker.ready()
    for _ in range(3):
        (claim,) = maker.claim(DISPATCHED)
        assert maker.do(legs.release, task.id, claim.lease.number, maker.ids.review(), AT)

    found = maker.get(task.id)
    assert (found.status, found.crashes) == (Status.RUNNING, 0)
    assert [each.task.id for each in maker.claim(DISPATCHED)] == [task.id]
    assert maker.complaints() == []


def test_only_workers_that_live_count_as_free(maker: PostgresScene) -> None:
    maker.ready()
    for n, slots in ((1, 3), (2, 5)):
        worker = WorkerId(f"wrk-{n}")
        late = AT if n == 1 else AT - 2 * legs.ALIVE
        maker.do(legs.report_load, WorkerState(worker, "here:1", ("remit",), slots, (), late))
    maker.claim(DISPATCHED)

    found = legs.load(maker.tx, NAMES, AT)

    assert (found.free, found.queues, found.suspects) == (2, {"": 2}, 0)
    assert [each.id for each in legs.workers(maker.tx, AT - legs.ALIVE)] == ["wrk-1"]


def test_a_queue_that_no_worker_serves_takes_no_slot_and_holds_nothing_up(
    maker: PostgresScene,
) -> None:
    plain, code = ("remit",), ("remit", "remit-code")

    def claim_with(queues: tuple[str, ...], slots: int) -> list[str]:
        state = WorkerState(WORKER, "here:1", queues, slots, (), AT)
        maker.sql("DELETE FROM worker_loads")
        maker.do(legs.report_load, state)
        found = legs.load(maker.tx, NAMES, AT)
        alone = found.suspects == 0
        wanted = ClaimFilter(found.free, {}, alone, AT_ONCE, found.queues, legs.SUSPECT)
        taken = maker.do(queue.claim, DISPATCHED, wanted, maker.ids.run, AT)
        return sorted(each.task.id for each in taken)

    on_code = [maker.ready(assigned_agent="project:shop").id for _ in range(3)]
    crashed = maker.ready(assigned_agent="project:shop").id
    others = [maker.ready().id for _ in range(3)]
    maker.sql("UPDATE tasks SET crashes = 2 WHERE id IN (?, ?)", crashed, others[2])

    assert claim_with(plain, 2) == sorted(others[:2])
    assert claim_with(plain, 2) == []  # both slots are taken
    assert claim_with(code, 4) == sorted(on_code[:2])
    assert claim_with(code, 6) == sorted([on_code[2], crashed])
    # The machine with the repository is gone: what it was to do takes no slot, and the other
    # suspect need not wait for it.
    assert claim_with(plain, 3) == [others[2]]
    assert claim_with(plain, 3) == []


@pytest.mark.parametrize(("deaths", "together"), [(1, 3), (2, 1)])
def test_tasks_of_a_dead_machine_go_on_together_and_alone_after_a_second_death(
    maker: PostgresScene, deaths: int, together: int
) -> None:
    for _ in range(3):
        maker.ready()
    maker.do(legs.report_load, WorkerState(WORKER, "here:1", ("remit",), 9, (), AT))
    maker.sql("UPDATE tasks SET crashes = ?", deaths)

    def claim() -> int:
        alone = legs.load(maker.tx, NAMES, AT).suspects == 0
        wanted = ClaimFilter(9, {}, alone, AT_ONCE, deaths=legs.SUSPECT)
        return len(maker.do(queue.claim, DISPATCHED, wanted, maker.ids.run, AT))

    assert claim() == together
    assert claim() == 0


def test_work_on_code_goes_on_where_its_folder_is_while_that_machine_lives(
    maker: PostgresScene,
) -> None:
    def report(worker: WorkerId, machine: str, at: datetime) -> None:
        queues = ("remit", "remit-code", f"remit-code-{machine}")
        maker.do(legs.report_load, WorkerState(worker, "here:1", queues, 4, (), at))

    def place(at: datetime = AT) -> str:
        return legs.queue_of_machine(maker.tx, task.id, "remit-code", at)

    task = maker.ready(assigned_agent="project:shop")
    report(WORKER, "ada", AT)
    assert place() == "remit-code"  # nobody has worked on it
    (claim,) = maker.claim(DISPATCHED)
    maker.do(legs.begin, task.id, claim.lease.number, WORKER, AT)
    maker.do(legs.release, task.id, claim.lease.number, maker.ids.review(), AT)

    assert place() == "remit-code-ada"
    late = AT + 2 * legs.ALIVE
    assert place(late) == "remit-code"
    report(WorkerId("wrk-2"), "ben", late)
    assert place(late) == "remit-code"
    report(WorkerId("wrk-3"), "ada", late)  # started again on the same machine
    assert place(late) == "remit-code-ada"


async def test_a_daily_cap_holds_however_many_processes_send_at_once(maker: PostgresScene) -> None:
    claims = [maker.delivering("outbox") for _ in range(6)]
    sends = [replace(each.task.delivery[0], address="+972 50") for each in claims]
    cap = SendCap(AT.replace(hour=0), 2)
    dbs = [SharedPostgres(maker.url, process_clock=True) for _ in range(3)]
    attempts = await asyncio.gather(
        *(
            dbs[n % 3].write(
                deliveries.claim_capped, each.lease, sends[n], BODY, DIGEST, AT, cap=cap
            )
            for n, each in enumerate(claims)
        )
    )
    for db in dbs:
        await db.close()

    assert sorted(attempts) == [0, 0, 0, 0, 1, 1]


async def test_the_page_shows_each_worker_what_it_runs_and_the_way_to_temporal(
    maker: PostgresScene, tmp_path: Path
) -> None:
    engine = EngineSettings(kind=EngineKind.TEMPORAL, address="temporal.example.org:7233")
    db, clock = SharedPostgres(maker.url, process_clock=True), FrozenClock()
    worker, runs = WorkerId("wrk-1"), ("series", "task-1", "task-2")
    state = WorkerState(worker, "a:1", ("remit",), 8, runs, clock.now() - timedelta(seconds=7))
    await db.write(legs.report_load, state)
    app = SimpleNamespace(db=db, clock=clock, settings=Settings(home=tmp_path, engine=engine))
    maker.ready(assigned_agent="project:shop")
    shown, code, temporal = await settings_sections._workers(SimpleNamespace(app=app))  # type: ignore[arg-type]
    await db.close()

    assert code.said == "Tasks on code that no worker takes: 1."

    said = "a:1 on remit runs 2 of 8 tasks; last heartbeat 7 s ago. Duties: series."
    assert shown.said == said
    assert shown.links == (("task-1", "/tasks/task-1"), ("task-2", "/tasks/task-2"))
    assert in_language(said, "de").startswith("a:1 an remit bearbeitet 2 von 8 Aufgaben")
    address = "http://temporal.example.org:8233/namespaces/default/workflows"
    assert temporal.links == ((address, address),)
    assert EngineSettings(ui="https://ui.example.org/").pages == "https://ui.example.org"


# Limits -------------------------------------------------------------------------------------------


async def test_processes_keep_one_pace_and_one_count_of_failed_sign_ins(
    maker: PostgresScene,
) -> None:
    dbs = [SharedPostgres(maker.url, process_clock=True) for _ in range(2)]
    try:
        paces = [SendRate(6, 80, name="phone", rates=Rates(db)) for db in dbs]
        waits = await asyncio.gather(
            *(paces[n % 2].take("anna", f"dlv-{n}", AT) for n in range(10))
        )
        assert sorted(waits) == [n * 6.0 for n in range(10)]
        assert await paces[0].take("nina", "dlv-nina", AT) == 0

        limiters = [SignInLimiter(lambda: AT, Rates(db)) for db in dbs]
        pauses = [await limiters[n % 2].begin("192.0.2.1", "") for n in range(8)]
        assert pauses[:5] == 5 * [timedelta()]
        assert all(pauses[5:])
        assert await limiters[0].begin("192.0.2.2", "") == timedelta()
        await limiters[0].succeeded("192.0.2.1", "")
        assert await limiters[1].begin("192.0.2.1", "") == timedelta()

        later = SendRate(6, 80, name="other", rates=Rates(dbs[0]))
        await later.take("anna", "dlv-later", AT + timedelta(days=1))
        assert [row["name"] for row in maker.sql("SELECT name FROM rates")] == ["sends by other"]
    finally:
        for db in dbs:
            await db.close()
