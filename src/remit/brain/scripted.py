"""A brain that answers from a YAML file: for rehearsals, tests and first steps without a key.

- when: bangkok            # a word of the task; the first entry that fits answers
  reply: |
    I looked around.
    <deliverable>Lumphini Park.</deliverable>
- when: visa
  ask: Which passport do you hold?
- when: offers             # calls tools; what comes of it is in the next prompt
  use: {tool: search_tasks, args: {query: offers}}    # or a list of such
  times: 1
- when: flaky
  fail: transient          # or permanent
  times: 2                 # then the next fitting entry answers
- reply: Done.             # no `when`: answers everything else
- when: groceries          # how a message of yours is read; without such entries it reads none
  extract: {tasks: [{title: Buy milk, instructions: buy milk, work: [buy milk]}]}
"""

import asyncio
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from remit.brain.prompt import ALIKE, FACTS
from remit.errors import BadInput, Permanent, Transient
from remit.formats.yaml import load_yaml
from remit.model.codec import IT, Json, JsonMap, from_json
from remit.model.reply import Ask, Prompt, Reply, ToolCall
from remit.model.status import Reason
from remit.ports import OnText

T = TypeVar("T")
_STATE: Final = "scripted"  # there is nothing to remember, but it did answer
_MAX_CHARS: Final = 10_000_000
_MAX_HEARD: Final = 100  # prompts that a test may look at
_FAILURES: Final = ("transient", "permanent")


class ScriptedToolUse(Struct, frozen=True):
    tool: str
    args: JsonMap = field(default_factory=dict)
    id: str = ""


class ScriptLine(Struct, frozen=True):
    when: str | None = None
    reply: str | None = None
    ask: str | None = None
    fail: str | None = None
    use: tuple[ScriptedToolUse, ...] = ()
    extract: JsonMap = field(default_factory=dict)  # how a message is read, in that form
    times: int = 0  # how often it answers; 0: always
    seconds: float = 0  # how long it takes
    done: tuple[int, ...] = ()


class ScriptedBrain:
    def __init__(self, script: tuple[ScriptLine, ...]) -> None:
        self._left = list(script)  # the entries that may still answer
        self._reads_messages = any(bool(line.extract) for line in script)
        self.heard: list[str] = []

    @property
    def reads_messages(self) -> bool:
        """Whether it says how messages are read; if not, only code reads them."""
        return self._reads_messages

    async def fill(self, prompt: str, form: type[T], /) -> T | None:
        """Fill in a form about the message at the end of the prompt; None if no entry matches."""
        message = prompt.rpartition("\n")[2]
        try:
            line = self._next_line(message, reads=True)
        except Permanent:
            return None
        if line.seconds:
            await asyncio.sleep(line.seconds)
        from pydantic import TypeAdapter  # noqa: PLC0415 - for the few scripts that read

        return TypeAdapter(form).validate_python(line.extract)

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        del session
        self.heard.append(prompt.whole)
        del self.heard[:-_MAX_HEARD]
        line = self._next_line(_own_words(prompt), reads=False)
        if line.seconds:
            await asyncio.sleep(line.seconds)
        if line.fail is not None:
            raise (Permanent if line.fail == "permanent" else Transient)("The script says: fail.")
        if line.ask is not None:
            return Reply("", ask=Ask(Reason.INPUT, line.ask))
        if line.use:
            return Reply(line.reply or "", calls=_calls(line, prompt), state=_STATE, done=line.done)
        return Reply(line.reply or "", done=line.done)

    async def think_aloud(self, prompt: Prompt, *, session: str, on_text: OnText) -> Reply:
        """Stream the reply line by line."""
        reply = await self.think(prompt, session=session)
        for line in reply.text.splitlines(keepends=True):
            await on_text(line)
        return reply

    def _next_line(self, text: str, *, reads: bool) -> ScriptLine:
        folded = text.casefold()
        for place, line in enumerate(self._left):
            if reads == bool(line.extract) and (
                line.when is None or line.when.casefold() in folded
            ):
                if line.times == 1:
                    del self._left[place]
                elif line.times:
                    self._left[place] = replace(line, times=line.times - 1)
                return line
        raise Permanent("The script has no answer to this prompt.")


def _own_words(prompt: Prompt) -> str:
    """Return what is said of this task.

    The rules fit every entry, or none, and a task that is only like this one answers no entry.
    """
    own, _, alike = prompt.recalled.partition(f"## {ALIKE}\n")
    facts = "".join(alike.rpartition(f"## {FACTS}\n")[1:]) if FACTS in alike else ""
    return replace(prompt, rules="", recalled=own + facts).whole


def _calls(line: ScriptLine, prompt: Prompt) -> tuple[ToolCall, ...]:
    """Return the calls of an entry, with ids that are unique in the run."""
    turn = len(prompt.earlier)
    return tuple(
        ToolCall(use.id or f"call-{turn}-{n}", use.tool, use.args) for n, use in enumerate(line.use)
    )


def load(path: Path) -> ScriptedBrain:
    """Load a script; an error names its entry."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"The brain's script {path} cannot be read: {error}") from None
    return parse(load_yaml(text, path.name, field="brain", max_chars=_MAX_CHARS).to_json())


def parse(data: Json) -> ScriptedBrain:
    if not isinstance(data, list) or not data:
        raise BadInput("A brain's script is a list of entries; this one is not, or is empty.")
    script = tuple(_line(number, entry) for number, entry in enumerate(data, 1))
    return ScriptedBrain(script)


def _line(number: int, entry: Json) -> ScriptLine:
    if isinstance(entry, dict) and isinstance(entry.get("use"), dict):
        entry = entry | {"use": [entry["use"]]}
    try:
        line = from_json(ScriptLine, entry, IT)
    except BadInput as error:
        raise BadInput(f"Entry {number} of the brain's script: {error}") from None
    parts = (line.reply or line.use or None, line.ask, line.fail, line.extract or None)
    if sum(part is not None for part in parts) != 1:
        sentence = (
            f"Entry {number} of the brain's script needs one of reply, ask, fail, use, extract."
        )
        raise BadInput(sentence)
    if line.fail is not None and line.fail not in _FAILURES:
        raise BadInput(f"Entry {number} of the brain's script: fail is transient or permanent.")
    return line
