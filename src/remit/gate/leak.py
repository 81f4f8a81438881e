"""Finds internal material in a message: our instructions, our names and ids, a model's markup."""

import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from itertools import chain
from typing import Final

from remit.gate import eye
from remit.gate.eye import HoldReason, Objection, excerpt, fold, known_words, line, words

_OURS: Final = known_words("instructions")
_MIN_WORDS: Final = 5
_CANARY: Final = 8
_SPACE: Final = re.compile(r"\s")
_SENTENCE: Final = re.compile(r"[.!?:;\n]++")

_SLOT: Final = re.compile(
    r"\[(?:(?i:your|insert) [^\[\]\n]{1,80}+|(?i:placeholder)[^\[\]\n]{0,80}+"
    r"|(?i:recipient|sender|customer|client|contact|company|first|last|full)(?i:'s)?+ (?i:name)"
    r"|Name|Recipient|Date|Time|Amount|Link|Address|Phone Number|Email Address)\](?![(\[:])"
)
_MARKUP: Final = re.compile(
    r"</?+\s{0,2}+(?:[a-z]{1,12}+:)?+(?:think|thinking|thought|thoughts|antthinking|reasoning"
    r"|reflection|scratchpad|analysis|inner_monologue|commentary|tool_call|tool_calls|tool_use"
    r"|tool_result|tool_results|tool_response|tool_code|tool_output|tool_outputs|function_call"
    r"|function_calls|function_result|function_results|function=|invoke|parameter=|arg_key|arg_value"
    r"|system-reminder|system_prompt|final_answer|answer|untrusted|untrusted_content|start_of_turn"
    r"|end_of_turn|bos|eos|unk)(?:[\s>/]|(?<==))"
    r"|<\|[a-z0-9_]{2,48}+\|>"
    r"|\[/?+(?:inst|tool_calls|tool_call|tool_results|available_tools|tool_request)\]"
    r"|<</?+sys>>"
    r"|assistantfinal|assistantcommentary|assistantanalysis|to=functions\."
    r'|"tool_calls"\s{0,3}+:|"type"\s{0,3}+:\s{0,3}+"tool_(?:use|result)"'
    r'|\{\s{0,8}+"(?:name|tool|function)"\s{0,3}+:\s{0,3}+"[^"\n]{1,64}+"\s{0,3}+,\s{0,8}+'
    r'"(?:arguments|tool_input|action_input)"\s{0,3}+:'
    r'|\{\s{0,8}+"(?:tool|tool_name|function|action)"\s{0,3}+:\s{0,3}+"[^"\n]{1,64}+"\s{0,3}+,\s{0,8}+'
    r'"(?:args|parameters|params|input|query)"\s{0,3}+:'
    r'|\{\s{0,8}+"role"\s{0,3}+:\s{0,3}+"(?:assistant|system|user|tool|developer|model)"\s{0,3}+,\s{0,8}+'
    r'"(?:content|parts)"\s{0,3}+:|"(?:function_call|tool_call_id)"\s{0,3}+:'
    r"|```tool_(?:code|call|output)|functions\.[a-z0-9_]{2,48}+:\d"
    r"|(?:(?<=\n)|\A)[ \t]{0,8}+</?+[a-z]{1,24}+(?:_[a-z]{1,24}+){1,3}+>[ \t]{0,8}+(?=\n|\Z)"
    r"|(?:(?<=\n)|\A)action input\s{0,2}+:"
)
_NAMES: Final = eye.step_names()
_LOUD_NAMES: Final = _NAMES.upper()
_STEP: Final = re.compile(
    f"[\u2713\u2714\u2611\u221a]\\W{{0,8}}+(?i:{_NAMES})\\W{{0,3}}+\\d"
    f"|(?:[\u2705\u2612\u2610]|\\[[xX ]\\])\\W{{0,8}}+(?:{_LOUD_NAMES})\\W{{0,3}}+\\d"
    f"|(?:{_LOUD_NAMES})\\W{{0,3}}+\\d{{1,3}}+[\\s:.*_)-]{{0,4}}+[\u2713\u2714\u2611\u2705]"
)
# The head of a line in a reasoning transcript: `**Thought:** …`
_HEAD: Final = re.compile(r"(?:(?<=\n)|\A)[ \t#>*_-]{0,8}+([^\W\d_][^\n:*_]{1,30}+)[*_ ]{0,4}+:")
_ID: Final = re.compile(
    r"(?i)(?<![0-9a-z])(?:(?:task|run|rev|dlv|ses|ser|wrk|cnv|conv)[-_:/ ]?+"
    r"[0-7][0-9a-hjkmnp-tv-z]{2}|01[g-z])[0-9a-hjkmnp-tv-z]{23}(?![0-9a-z])"
)


def objection(plain: str, echoes: Collection[str]) -> Objection | None:
    """Object to the first thing in a folded text that nobody outside should read."""
    plain_words = words(plain)
    looks: tuple[Callable[[], Objection | None], ...] = (
        lambda: _phrase(plain_words, _OURS, "repeats the brain's instructions", HoldReason.ECHO),
        lambda: _phrase(
            plain_words,
            chain.from_iterable(map(_pieces_of, echoes)),
            "repeats the brain's instructions",
            HoldReason.ECHO,
        ),
        lambda: _piece(plain, _SLOT, "a slot that nobody filled in", HoldReason.ECHO),
        lambda: _piece(
            plain.lower(), _MARKUP, "markup that models write for machines", HoldReason.MARKUP
        ),
        lambda: _piece(plain, _STEP, "a work marker", HoldReason.WORK),
        lambda: _talk(plain_words),
        lambda: _transcript(plain),
        lambda: _piece(plain, _ID, "the id of a task, run or review", HoldReason.ID),
    )
    return next((found for look in looks if (found := look())), None)


def _phrase(text: str, phrases: Iterable[str], does: str, why: HoldReason) -> Objection | None:
    found = next((phrase for phrase in phrases if f" {phrase} " in text), None)
    return Objection(f"The deliverable {does}: “{excerpt(found)}”.", why) if found else None


def _talk(text: str) -> Objection | None:
    found = eye.about_work(text)
    if found is None:
        return None
    sentence = f"The deliverable talks about the work instead of the matter: “{excerpt(found)}”."
    return Objection(sentence, HoldReason.WORK)


def _transcript(plain: str) -> Objection | None:
    """Object to the transcript of a model that thinks and acts in turns, in any language."""
    heads = {words(found[1]).strip() for found in _HEAD.finditer(plain)}
    thinks, acts = heads & eye.heads("thoughts"), heads & eye.heads("acts")
    turns = heads & eye.heads("turns")
    signs = sorted(thinks)[:1] + sorted(acts)[:1] if thinks and acts else sorted(turns)[:2]
    if len(signs) <= 1:
        return None
    lines = f"“{signs[0]}:” and “{signs[1]}:”"
    sentence = f"The deliverable is the transcript of a model: it has lines {lines}."
    return Objection(sentence, HoldReason.MARKUP)


@lru_cache(maxsize=256)
def _pieces_of(echo: str) -> tuple[str, ...]:
    """Return what in a text of ours is not said by chance: long sentences, a one-word canary.

    These texts are few, and each reply is held against all of them.
    """
    canary = len(echo) >= _CANARY and not _SPACE.search(echo)
    parts = [echo] if canary else _SENTENCE.split(echo)
    pieces = (words(fold(part)).strip() for part in parts)
    return tuple(
        each for each in pieces if each and (canary or (each.count(" ") >= _MIN_WORDS - 1))
    )


def _piece(text: str, pattern: re.Pattern[str], what: str, why: HoldReason) -> Objection | None:
    found = pattern.search(text)
    if not found:
        return None
    where = line(text, found.start())
    return Objection(f"Line {where} holds {what}: “{excerpt(found[0])}”.", why)
