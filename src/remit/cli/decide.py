"""Decisions: `remit inbox`, approve, back, answer, …, and the editor for a text to send."""

import os
import shlex
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Final

from remit import settings as app_settings
from remit.cli import clock, out, remit_client, words
from remit.cli.lookup import find_review, read_file
from remit.cli.out import AsJson, Piece, StyledText, Timeout, Wait, flag, free
from remit.cli.task import CommandTally, events_so_far
from remit.errors import BadInput, RemitError
from remit.model.codec import JsonMap
from remit.model.ids import ReviewId
from remit.model.review import INTENDED, LESSON, MERGE, SEND, Review, ReviewAnswer
from remit.operations.arguments import NewDecision, Postponement
from remit.operations.shapes import review_to_json
from remit.settings import Settings
from remit.store import inbox as waiting
from remit.store import reviews, tasks
from remit.store.database import Tx
from remit.store.read_only import open_read_only

_SCISSORS: Final = "------------------------ >8 ------------------------"


def edit_text(text: str, about: str) -> str:
    """Open $VISUAL or $EDITOR; return what is above the marker line afterwards."""
    import subprocess  # noqa: PLC0415 - most decisions open no editor
    import tempfile  # noqa: PLC0415

    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="remit-") as folder:
        path = Path(folder) / "text.md"
        path.write_text(f"{text}\n{_SCISSORS}\nAbove this line: {about}\n", encoding="utf-8")
        try:
            subprocess.run([*command, str(path)], check=True)  # noqa: S603 - the owner's own choice
        except (OSError, subprocess.CalledProcessError) as error:
            raise BadInput(f"The editor {command[0]!r} did not end well: {error}") from None
        kept, _, _ = path.read_text(encoding="utf-8").partition(_SCISSORS)
    if not kept.strip():
        raise BadInput("The text is empty; nothing was decided.", field="text")
    if kept.strip() == text.strip():
        raise BadInput("The text was not changed; nothing was decided.", field="text")
    return kept.strip()


_Refs = Annotated[str, free("Reviews, or tasks that ask one thing; - reads them from stdin.")]
_Ref = Annotated[str, flag("The review, or a task that asks one question.")]
_EDIT: Final = ("--edit", "-e")
_WORD: Final = ("--message", "-m")


def approve(  # noqa: PLR0913 - each is a flag
    *ids: _Refs,
    edit: Annotated[bool, flag("Edit the text in $EDITOR and send the result.", *_EDIT)] = False,
    text: Annotated[str | None, flag("Send this text instead.", "--text", "-t")] = None,
    text_file: Annotated[Path | None, flag("Send this file instead; - is stdin.")] = None,
    always: Annotated[
        bool, flag("From now on write to this person on this channel unasked.")
    ] = False,
    wait: Wait = False,
    timeout: Timeout = None,
    json: AsJson = False,
) -> int:
    """Approve a text as shown, or send your own instead."""
    given = sum((edit, text is not None, text_file is not None))
    if given > 1:
        raise BadInput("Say one of --edit, --text and --text-file.", field="text")
    if given and len(ids) != 1:
        raise BadInput("Your own text goes with one review at a time.", field="text")
    settings = app_settings.load()
    if edit:
        text = _edit_review(settings, ids[0])
    elif text_file is not None:
        text = _read_text(text_file)
    answered = ReviewAnswer.APPROVE if text is None else ReviewAnswer.EDIT
    return _settle(ids, answered, text, always=always, wait=wait, timeout=timeout, json=json)


def back(
    *ids: _Refs,
    message: Annotated[str, flag("What is wrong with it.", *_WORD)],
    wait: Wait = False,
    timeout: Timeout = None,
    json: AsJson = False,
) -> int:
    """Have it done again, and say what is wrong."""
    return _settle(ids, ReviewAnswer.BACK, message, wait=wait, timeout=timeout, json=json)


def answer(
    id: _Ref,  # noqa: A002 - the argument is called so
    text: Annotated[str, free("Your answer.")],
    /,
    *,
    wait: Wait = False,
    timeout: Timeout = None,
    json: AsJson = False,
) -> int:
    """Answer a question."""
    return _settle((id,), ReviewAnswer.ANSWER, text, wait=wait, timeout=timeout, json=json)


def decline(
    *ids: _Refs,
    message: Annotated[str | None, flag("The reason, for the journal.", *_WORD)] = None,
    json: AsJson = False,
) -> int:
    """Stop the task; nothing is sent."""
    return _settle(ids, ReviewAnswer.DECLINE, message, json=json)


def arrived(*ids: _Refs, json: AsJson = False) -> int:
    """Confirm that a doubtful message arrived, or that you did the work yourself."""
    return _settle(ids, ReviewAnswer.ARRIVED, json=json)


def resend(*ids: _Refs, json: AsJson = False) -> int:
    """Send a doubtful message again; it may arrive twice."""
    return _settle(ids, ReviewAnswer.RESEND, json=json)


def drop(
    *ids: _Refs,
    message: Annotated[str | None, flag("The reason, if you accept unproven work.", *_WORD)] = None,
    json: AsJson = False,
) -> int:
    """Give a doubtful delivery up, accept unproven work, or leave it on its branch."""
    return _settle(ids, ReviewAnswer.DROP, message, json=json)


def _settle(  # noqa: PLR0913 - as many as the flags
    ids: tuple[str, ...],
    answered: ReviewAnswer,
    text: str | None = None,
    *,
    always: bool = False,
    wait: bool = False,
    timeout: float | None = None,
    json: bool,
) -> int:
    tally = CommandTally(app_settings.load(), json)
    with open_read_only(tally.settings.database) as tx:
        found = tally.each(words.typed_ids(ids), partial(find_review, tx), str)
    if not found:
        return tally.end()
    with remit_client.open_client(tally.settings, works=wait) as way:

        def one(review: Review) -> None:
            if answered is ReviewAnswer.APPROVE and review.about_text and not (json or wait):
                for line in review.evidence.splitlines():
                    out.line("  ", line)
            after = events_so_far(tally.settings, review.task_id)
            way.ask(NewDecision(str(review.id), answered, text, always))
            if wait:
                tally.wait_for(way, review.task_id, timeout=timeout, after=after)
            else:
                tally.show_task(review.task_id)

        tally.each(found, one, lambda review: str(review.id))
        if tally.shown and not (way.serves or wait or answered is ReviewAnswer.DECLINE):
            out.say(remit_client.NOBODY)
    return tally.end()


def _edit_review(settings: Settings, ref: str) -> str:
    with open_read_only(settings.database) as tx:
        review = find_review(tx, ref)
    return edit_text(review.evidence, f"what will be sent.\n{review.question}")


def _read_text(path: Path) -> str:
    try:
        return read_file(path, "text-file", wrong_value=True).decode()
    except UnicodeDecodeError:
        raise BadInput(f"{path} is no text in UTF-8.", field="text-file") from None


MOST: Final = 1000
_DIFF: Final = {"+": "green", "-": "red", "@": "cyan"}
_LATER: Final = "l"
_CHANGE: Final = "c"  # changes a line of a card that a yes would approve
_MOST_HOURS: Final = 2160
_ALWAYS: Final = "w"
_PROMPTS: Final = {
    ReviewAnswer.BACK: "What is wrong with it? ",
    ReviewAnswer.ANSWER: "Your answer: ",
}
_WHY: Final = "Why is it taken unproven? "
_MOST_LINES: Final = 200  # of its evidence; `remit show` has the rest


def inbox(
    *,
    list_: Annotated[bool, flag("Show a list, on a terminal too.", "--list", "-l")] = False,
    json: AsJson = False,
) -> int:
    """Decide what waits for you: one question at a time on a terminal, otherwise a list."""
    settings = app_settings.load()
    with open_read_only(settings.database) as tx:
        found = [(r, tasks.get(tx, r.task_id).title) for r in reviews.waiting(tx, MOST)]
        if json:
            out.emit({"reviews": [_to_json(tx, settings, review) for review, _ in found]})
            return 0
        if not found:
            out.say("Nothing waits for you.")
            return 0
        if list_ or not out.interactive():
            _print(tx, found)
            return 0
    now = clock.now()
    due = [(review, title) for review, title in found if not _is_put_off(review, now)]
    _go_through(settings, due)
    if len(due) < len(found):
        out.hint(f"{words.count(len(found) - len(due), 'question')} put off till later.")
    return 0


def _is_put_off(review: Review, now: datetime) -> bool:
    return review.later_until is not None and review.later_until > now


def _print(tx: Tx, found: list[tuple[Review, str]]) -> None:
    now, rows = clock.now(), list[list[Piece]]()
    for review, title in found:
        since = words.relative(review.opened_at, now) if review.opened_at else ""
        if review.later_until is not None and _is_put_off(review, now):
            since = f"back {words.relative(review.later_until, now)}"
        asked, why = f"{title}: {review.question}", StyledText(review.reason.value, "yellow")
        rows.append([words.short_id(tx, review.task_id), why, since, asked])
    out.table(rows, ("ID", "WHY", "SINCE", "QUESTION"))
    out.hint("`remit show ID` shows one whole, and how to answer it.")


def _go_through(settings: Settings, found: list[tuple[Review, str]]) -> None:
    for place, (review, title) in enumerate(found, 1):
        out.line(StyledText(f"{place} of {len(found)}  ", "dim"), StyledText(title, "bold"))
        # The text itself comes first, then what is asked about it.
        if review.evidence:
            _evidence(review)
            out.line()
        out.line(StyledText(review.question, "yellow"))
        if not _ask(settings, review):
            return
        out.line()
    out.line("That was all.")


def _evidence(review: Review) -> None:
    """Print the evidence; a diff is coloured and shortened."""
    whole = review.evidence.splitlines()
    is_diff = (review.about or "").startswith((f"{MERGE}:", f"{LESSON}:", f"{INTENDED}:"))
    for each in whole[:_MOST_LINES]:
        out.line("  ", StyledText(each, _DIFF.get(each[:1], "")) if is_diff else each)
    if len(whole) > _MOST_LINES:
        left = words.count(len(whole) - _MOST_LINES, "line")
        out.line("  ", StyledText(f"… {left} more: remit show {review.task_id}", "dim"))


def _ask(settings: Settings, review: Review) -> bool:
    """Ask until there is an answer; False if the owner stops."""
    both = {ReviewAnswer.APPROVE, ReviewAnswer.ANSWER} <= set(review.options)
    change = {ReviewAnswer.ANSWER: _CHANGE} if both else {}
    keys = {change.get(each, words.ANSWERS[each].key): each for each in review.options}
    shown = [f"[{key}] {words.answer_meaning(review, answer)}" for key, answer in keys.items()]
    # "Always" needs an address that is written to.
    lasting = ReviewAnswer.APPROVE in review.options and (review.about or "").startswith(f"{SEND}:")
    shown += [f"[{_ALWAYS}] approve, and always write there unasked"] if lasting else []
    prompt = "  ".join([*shown, f"[{_LATER}] later", "[s] skip", "[q] quit"])
    while True:
        out.line(prompt)
        key = _prompt("> ").strip().lower()[:1]
        if key in ("s", "q"):
            return key == "s"
        if key == _LATER and _put_off(review):
            return True
        always = lasting and key == _ALWAYS
        answer = ReviewAnswer.APPROVE if always else keys.get(key)
        if answer and _settle_one(settings, review, answer, always=always):
            return True


def _to_json(tx: Tx, settings: Settings, review: Review) -> JsonMap:
    """As the API tells it, with the title under the name that it had here first."""
    found = waiting.question(tx, ReviewId(str(review.id)))
    return review_to_json(found, settings.deliver.undo) | {"title": found.task.title}


def _put_off(review: Review) -> bool:
    """Postpone a question for some hours; False without a valid number."""
    text = _prompt("For how many hours (1)? ").strip() or "1"
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_HOURS:
        out.hint(f"{text!r:.20} is no number of hours; say 1 to {_MOST_HOURS}.", "red")
        return False
    try:
        remit_client.ask(Postponement(str(review.id), hours=int(text)))
    except RemitError as error:
        out.hint(str(error), "red")
        return False
    out.line(StyledText(f"It comes back in {words.count(int(text), 'hour')}.", "green"))
    return True


def _settle_one(
    settings: Settings, review: Review, answered: ReviewAnswer, *, always: bool = False
) -> bool:
    """Store the decision; False if nothing was decided."""
    try:
        text = _text(review, answered)
        if review.needs_text(answered) and not text:
            return False
        with remit_client.open_client(settings) as way:
            way.ask(NewDecision(str(review.id), answered, text, always))
            serves = way.serves
    except RemitError as error:
        out.hint(str(error), "red")
        return False
    with open_read_only(settings.database) as tx:
        task = tasks.get(tx, review.task_id)
        out.line(
            StyledText(
                f"{words.short_id(tx, task.id)} is {words.status_word(task.status)}.", "green"
            )
        )
    if not serves and not task.ended:
        out.hint(remit_client.NOBODY)
    return True


def _text(review: Review, answered: ReviewAnswer) -> str | None:
    if answered is ReviewAnswer.EDIT:
        return edit_text(review.evidence, f"what will be sent.\n{review.question}")
    if answered is ReviewAnswer.DROP and review.needs_text(answered):
        return _prompt(_WHY).strip()
    return _prompt(_PROMPTS[answered]).strip() if answered in _PROMPTS else None


def _prompt(prompt: str) -> str:
    try:
        return input(prompt)
    except EOFError:
        return "q"
