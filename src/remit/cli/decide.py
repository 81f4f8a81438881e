"""Commands for decisions (approve, back, answer, decline, …) and the editor for a text to send."""

import os
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Final

from remit import settings as house_settings
from remit.cli import out, question, remit_client, wait_for_task, words
from remit.cli.out import AsJson, Timeout, Wait, flag, free
from remit.cli.tally import CommandTally
from remit.errors import BadInput
from remit.model.review import Review, ReviewAnswer
from remit.operations.arguments import NewDecision
from remit.settings import Settings
from remit.store.read_only import glance

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
_Ref = Annotated[str, flag("The review, or a task that asks one thing.")]
_EDIT: Final = ("--edit", "-e")
_WORD: Final = ("--message", "-m")


def approve(  # noqa: PLR0913 - each is a flag
    *ids: _Refs,
    edit: Annotated[bool, flag("Open $EDITOR, and send what you leave in it.", *_EDIT)] = False,
    text: Annotated[str | None, flag("Send this text instead.", "--text", "-t")] = None,
    text_file: Annotated[Path | None, flag("Send this file instead; - is stdin.")] = None,
    always: Annotated[bool, flag("And write to this person there unasked from now on.")] = False,
    wait: Wait = False,
    timeout: Timeout = None,
    json: AsJson = False,
) -> int:
    """Go on as shown, or with your own text."""
    given = sum((edit, text is not None, text_file is not None))
    if given > 1:
        raise BadInput("Say one of --edit, --text and --text-file.", field="text")
    if given and len(ids) != 1:
        raise BadInput("Your own text goes with one review at a time.", field="text")
    settings = house_settings.load()
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
    """Have it done again, with a word on what is wrong."""
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
    """Answer what was asked."""
    return _settle((id,), ReviewAnswer.ANSWER, text, wait=wait, timeout=timeout, json=json)


def decline(
    *ids: _Refs,
    message: Annotated[str | None, flag("Why, for the journal.", *_WORD)] = None,
    json: AsJson = False,
) -> int:
    """Stop the task; nothing is sent."""
    return _settle(ids, ReviewAnswer.DECLINE, message, json=json)


def arrived(*ids: _Refs, json: AsJson = False) -> int:
    """The doubtful message got there; or you did the work yourself."""
    return _settle(ids, ReviewAnswer.ARRIVED, json=json)


def resend(*ids: _Refs, json: AsJson = False) -> int:
    """Send the doubtful message again; it may arrive twice."""
    return _settle(ids, ReviewAnswer.RESEND, json=json)


def drop(
    *ids: _Refs,
    message: Annotated[str | None, flag("Why, if work is taken unproven.", *_WORD)] = None,
    json: AsJson = False,
) -> int:
    """Leave the doubtful delivery out, take work unproven, or leave it on its branch."""
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
    tally = CommandTally(house_settings.load(), json)
    with glance(tally.settings.database) as tx:
        found = tally.each(words.typed_ids(ids), partial(question.find, tx), str)
    if not found:
        return tally.end()
    with remit_client.opened(tally.settings, works=wait) as way:

        def one(review: Review) -> None:
            if answered is ReviewAnswer.APPROVE and review.about_text and not (json or wait):
                for line in review.evidence.splitlines():
                    out.line("  ", line)
            after = wait_for_task.events_so_far(tally.settings, review.task_id)
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
    with glance(settings.database) as tx:
        review = question.find(tx, ref)
    return edit_text(review.evidence, f"what will be sent.\n{review.question}")


def _read_text(path: Path) -> str:
    try:
        return sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.", field="text-file") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is no text in UTF-8.", field="text-file") from None
