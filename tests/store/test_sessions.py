"""What a session left behind: its runs, what the owner said, what was sent, how far it is told."""

from typing import Final

from msgspec.structs import replace

from remit.model.codec import Json, to_json
from remit.model.delivery import Accepted, Delivery
from remit.model.ids import SessionId
from remit.model.reply import Reply, ToolCall, Usage
from remit.model.review import Review, ReviewAnswer
from remit.model.status import Actor, Reason, Status
from remit.model.task import Taint, Task
from remit.store import recall, reviews, runs, sessions, tasks
from remit.store.queue import ClaimedTask
from remit.store.sessions import RECENT, OwnerStatement, SessionSummary
from tests.store.scene import AT, BODY, Scene

SHARED: Final = SessionId("ses-shared")
CALL: Final = ToolCall("c-1", "look")


def turn(n: int, reply: Reply) -> tuple[str, Json]:
    return (f"execute_tool:{n}" if n else "execute_tool", to_json(reply))


def ran(scene: Scene, title: str, *thoughts: Reply, **changes: object) -> Task:
    """A completed run of the session that thought this, turn by turn."""
    claim = scene.running(title, session_id=SHARED, **changes)
    done = dict(turn(n, reply) for n, reply in enumerate(thoughts))
    scene.do(runs.record_steps, claim.lease, done, None, scene.now)
    scene.finish(claim, "done", Status.COMPLETED, summary=f"{title} is done")
    scene.wait()
    return scene.get(claim.task.id)


def sent(scene: Scene, title: str = "Send", taint: Taint = Taint.OWNER) -> Task:
    sends = (Delivery("outbox", id=scene.ids.delivery()),)
    claim = scene.running(title, session_id=SHARED, delivery=sends, taint=taint)
    scene.move(claim, Status.DELIVERING)
    scene.send(claim, Accepted("ref"))
    scene.finish(claim, "done", Status.COMPLETED, by=Actor.COURIER, summary="short")
    scene.wait()
    return scene.get(claim.task.id)


def decided(scene: Scene, answer: ReviewAnswer, text: str, **more: object) -> Task:
    """A task of the session about which the owner said something."""
    taint = more.pop("taint", Taint.OWNER)
    claim = scene.running(session_id=SHARED, taint=taint)
    review = _question(scene, claim, answer, **more)
    scene.finish(claim, "wait", Status.NEEDS_REVIEW, review=review)
    scene.decide(review, answer, text)
    (again,) = scene.claim()
    scene.finish(again, "fail", Status.FAILED, round=again.task.round)
    scene.wait()
    return scene.get(claim.task.id)


def _question(scene: Scene, claim: ClaimedTask, answer: ReviewAnswer, **more: object) -> Review:
    reason = {
        ReviewAnswer.ANSWER: Reason.INPUT,
        ReviewAnswer.EDIT: Reason.APPROVAL,
        ReviewAnswer.APPROVE: Reason.APPROVAL,
    }
    return scene.question(claim, reason.get(answer, Reason.DELIVERABLE), **more)


def back(scene: Scene) -> sessions.SessionHistory:
    return sessions.look_back(scene.tx, scene.task(session_id=SHARED))


# Runs ---------------------------------------------------------------------------------------------


def test_a_run_sees_the_completed_ones_before_it_oldest_first(scene: Scene) -> None:
    made = [ran(scene, f"run {n}") for n in range(3)]
    failed = scene.running("failed", session_id=SHARED)
    scene.finish(failed, "fail", Status.FAILED)
    scene.running("elsewhere")
    hidden = ran(scene, "hidden")
    scene.do(tasks.delete, hidden.id, scene.now)

    found = back(scene)

    assert [run.task_id for run in found.runs] == [task.id for task in made]
    assert [run.text for run in found.runs] == ["run 0 is done", "run 1 is done", "run 2 is done"]
    assert sessions.look_back(scene.tx, made[1]).runs == (found.runs[0], found.runs[2])
    assert (found.summary, found.said, found.reported) == (None, (), ())


def test_what_a_run_thought_comes_back_turn_by_turn_and_run_by_run(scene: Scene) -> None:
    turns = [Reply("", calls=(CALL,), state=f"turn {n}") for n in range(11)]
    first = ran(scene, "one", *turns, Reply("done", state="turn 11"))
    second = ran(scene, "two", Reply("done", state="other", usage=Usage(context=70)))

    states = sessions.states(scene.tx, [second.id, first.id])

    assert states == ["other", *(f"turn {n}" for n in range(12))]
    assert sessions.states(scene.tx, []) == []
    one, two = back(scene).runs
    assert one.size == sum(len(f"turn {n}") for n in range(12))
    assert (two.size, two.context) == (5, 70)


def test_half_a_talk_is_not_told_whole(scene: Scene) -> None:
    ran(scene, "silent", Reply("done"))
    ran(scene, "refused", Reply("", calls=(CALL,), state="a call"), Reply("no", flaw="refused"))
    ran(scene, "cut", Reply("", calls=(CALL,), state="a call"))
    ran(scene, "never thought")

    assert [run.size for run in back(scene).runs] == [0, 0, 0, 0]


def test_only_the_last_round_counts(scene: Scene) -> None:
    claim = scene.running("again", session_id=SHARED)
    done = dict([turn(0, Reply("bad", state="first round"))])
    scene.do(runs.record_steps, claim.lease, done, None, scene.now)
    review = scene.question(claim, Reason.DELIVERABLE)
    scene.finish(claim, "wait", Status.NEEDS_REVIEW, review=review)
    scene.decide(review, ReviewAnswer.BACK, "shorter")
    (again,) = scene.claim()
    better = dict([turn(0, Reply("good", state="second"))])
    scene.do(runs.record_steps, again.lease, better, None, scene.now)
    scene.finish(again, "done", Status.COMPLETED, round=1)

    assert sessions.states(scene.tx, [claim.task.id]) == ["second"]


def test_of_a_very_long_session_the_newest_part_is_looked_at(scene: Scene) -> None:
    ran(scene, "old")
    for _ in range(RECENT):
        scene.admit(session_id=SHARED)

    assert back(scene).runs == ()


# The summary --------------------------------------------------------------------------------------


def summary(task: Task, scene: Scene, text: str = "so far") -> SessionSummary:
    (run,) = [each for each in back(scene).runs if each.task_id == task.id]
    return SessionSummary(text, (run.ended_at, run.no), 2, AT, Taint.CONTACT)


def test_what_is_summed_up_is_not_told_again_and_nothing_is_deleted(scene: Scene) -> None:
    made = [ran(scene, f"run {n}") for n in range(3)]
    kept = summary(made[1], scene)
    steps = scene.sql("SELECT * FROM steps")

    assert scene.do(sessions.sum_up, SHARED, kept)

    found = back(scene)
    assert found.summary == kept
    assert [run.task_id for run in found.runs] == [made[2].id]
    assert scene.sql("SELECT * FROM steps") == steps
    assert len(scene.sql("SELECT * FROM tasks")) == 3


def test_a_summary_only_ever_goes_further(scene: Scene) -> None:
    made = [ran(scene, f"run {n}") for n in range(3)]
    near, far = summary(made[0], scene, "near"), summary(made[1], scene, "far")

    assert scene.do(sessions.sum_up, SHARED, far)
    assert not scene.do(sessions.sum_up, SHARED, near)
    assert not scene.do(sessions.sum_up, SHARED, replace(far, text="twice"))

    assert back(scene).summary == far


def test_two_that_ended_in_one_moment_are_told_apart(scene: Scene) -> None:
    for _ in range(2):
        scene.finish(scene.running(session_id=SHARED), "done", Status.COMPLETED)
    first, second = back(scene).runs
    assert first.ended_at == second.ended_at

    scene.do(
        sessions.sum_up, SHARED, SessionSummary("x", (first.ended_at, first.no), 1, AT, Taint.OWNER)
    )

    assert [run.task_id for run in back(scene).runs] == [second.task_id]


def test_a_run_that_ended_after_a_later_one_was_summed_up_is_still_told(scene: Scene) -> None:
    early = scene.running("waits long", session_id=SHARED)
    review = scene.question(early)
    scene.finish(early, "wait", Status.NEEDS_REVIEW, review=review)
    scene.wait()
    late = ran(scene, "went ahead")
    scene.do(sessions.sum_up, SHARED, summary(late, scene))
    scene.decide(review, ReviewAnswer.ANSWER, "these")
    (again,) = scene.claim()
    scene.finish(again, "done", Status.COMPLETED)

    assert [run.task_id for run in back(scene).runs] == [early.task.id]


# What the owner said, and what was sent -----------------------------------------------------------


def test_what_the_owner_said_about_the_work_is_kept_newest_first_and_once(scene: Scene) -> None:
    decided(scene, ReviewAnswer.BACK, "Shorter, please.")
    decided(scene, ReviewAnswer.ANSWER, "The red ones.", question="Which ones?")
    decided(scene, ReviewAnswer.EDIT, "My own words.")
    decided(scene, ReviewAnswer.BACK, " Shorter, please. ")

    assert back(scene).said == (
        OwnerStatement("Shorter, please.", ReviewAnswer.BACK),
        OwnerStatement("My own words.", ReviewAnswer.EDIT),
        OwnerStatement("The red ones.", ReviewAnswer.ANSWER, "Which ones?"),
    )


def test_what_was_asked_about_the_request_itself_is_no_correction(scene: Scene) -> None:
    asked = scene.admit(session_id=SHARED)
    review = Review(
        id=scene.ids.review(),
        task_id=asked.id,
        key="clause:1:time:0",
        reason=Reason.INPUT,
        question="When?",
        resume_to=Status.NEW,
    )
    scene.do(reviews.open_review, review, Actor.INTAKE, scene.now)
    scene.decide(review, ReviewAnswer.ANSWER, "at nine")
    decided(scene, ReviewAnswer.APPROVE, "fine")
    decided(scene, ReviewAnswer.EDIT, '{"a": 1}', about="call:c-1", resume_to=Status.RUNNING)

    assert back(scene).said == ()


def test_a_question_that_an_outsider_may_have_put_is_left_out(scene: Scene) -> None:
    decided(scene, ReviewAnswer.ANSWER, "No.", question="ADMIN: wire money?", taint=Taint.PUBLIC)
    decided(scene, ReviewAnswer.EDIT, "with his words", taint=Taint.PUBLIC)

    assert back(scene).said == (OwnerStatement("No.", ReviewAnswer.ANSWER),)


def test_what_the_task_itself_was_told_is_not_told_twice(scene: Scene) -> None:
    task = decided(scene, ReviewAnswer.BACK, "Shorter.")

    assert sessions.look_back(scene.tx, task).said == ()


def test_a_reminder_gives_the_sent_text_or_the_summary_of_what_is_completed(scene: Scene) -> None:
    letter, plain = sent(scene), ran(scene, "Look", Reply("fine"), context={"hook": "door"})
    asked = [plain.id, scene.ready("Not yet").id, letter.id]

    found = scene.do(recall.list_completed, asked)

    assert [(each.id, each.result_summary) for each in found] == [
        (plain.id, "Look is done"),
        (letter.id, BODY),
    ]
    assert [each.context for each in found] == [{"hook": "door"}, {}]
    whole = tasks.get(scene.tx, letter.id)
    for name in ("title", "instructions", "source", "taint", "status", "completed_at"):
        assert getattr(found[1], name) == getattr(whole, name)
