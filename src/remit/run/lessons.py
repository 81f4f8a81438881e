"""The run that looks back: one question for each lesson, and only a yes changes a file."""

from remit.model.likeness import Lesson, LessonResult, UnfitLesson
from remit.model.review import Review, ReviewAnswer
from remit.model.run import Done, Fail, Outcome, Wait
from remit.ports import Steps
from remit.reflect.reflector import Reflector
from remit.review import ask
from remit.run.rooms import RunPorts


async def reflect(rooms: RunPorts, steps: Steps) -> Outcome:
    """Ask one question for each lesson, in order; only a yes changes a file."""
    reflector = rooms.mirror
    if reflector is None:
        return Fail("There is nothing to look back with here.")
    looked = await steps.do("execute_tool", reflector.look, steps.task)
    steps.keep(tool_output=looked.said, spent=await rooms.thinker.spent(steps.task))
    settled = list[LessonResult]()
    for place, lesson in enumerate(looked.lessons):
        result = await _lesson_result(place, lesson, reflector, steps)
        if isinstance(result, Review):
            return Wait(result)
        settled.append(result)
    summary = _summary(settled)
    steps.keep(tool_output=f"{summary}\n{looked.said}")
    return Done(summary)


async def _lesson_result(
    place: int, lesson: Lesson, reflector: Reflector, steps: Steps
) -> LessonResult | Review:
    """Return what became of a lesson, or the question about it.

    The question is bound to the new text of the file. If the file changed since, the text differs
    and the question is asked again.
    """
    name = f"lesson:{place}"
    if steps.has(name):
        # A recorded step returns its stored result, whatever the arguments are.
        return await steps.do(name, reflector.leave, steps.task, lesson, "")
    drafted = await reflector.draft(lesson)
    if isinstance(drafted, UnfitLesson):
        return await steps.do(name, reflector.leave, steps.task, lesson, drafted.why)
    question = ask.lesson(steps.task, place, lesson, drafted)
    decision = await steps.decided(question.key)
    if decision is None:
        return question
    if decision.answer is ReviewAnswer.APPROVE:
        return await steps.do(name, reflector.accept, steps.task, lesson, drafted.digest)
    return await steps.do(name, reflector.leave, steps.task, lesson, "you left it out")


def _summary(settled: list[LessonResult]) -> str:
    if not settled:
        return "Nothing to learn."
    taken = sum(each.taken for each in settled)
    left = len(settled) - taken
    return f"{taken} of {len(settled)} lessons taken." if left else f"{_count(taken)} taken."


def _count(lessons: int) -> str:
    return "1 lesson" if lessons == 1 else f"{lessons} lessons"
