"""Finds what no message may carry: our internal material, markup of models, keys and passwords.

A secret is found by the formats of vendors, and our own by value. The sentence that reports a
secret never repeats it.
"""

import base64
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Final, cast

from msgspec import Struct

from remit.gate import eye
from remit.gate.eye import HoldReason, Objection, excerpt, fold, known_words, line, words
from remit.language.files import read_toml

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


def find_internal(plain: str, echoes: Collection[str]) -> Objection | None:
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


# Keys and passwords -------------------------------------------------------------------------------


class _Shape(Struct, frozen=True):
    """A key format.

    `sign` is in every secret of this format, so that most texts are skipped quickly.
    """

    what: str
    sign: str
    pattern: re.Pattern[str]


_TABLE: Final = cast(
    "list[tuple[str, str, str]]", read_toml("secret_shapes", "remit.gate")["shapes"]
)
_SHAPES: Final = tuple(_Shape(what, sign, re.compile(shape)) for what, sign, shape in _TABLE)


# A placeholder is recognised as a whole: it consists of these words, or of one repeated sign. A
# text that only contains such a word may be a real secret.
_SAYS_EXAMPLE: Final = frozenset(known_words("example"))
_GOES_WITH_IT: Final = frozenset(known_words("around_example"))
_AROUND: Final = (("{{", "}}"), ("<", ">"), ("{", "}"), ("[", "]"), ("%", "%"), ("$", ""))
_REST: Final = re.compile(r"[\w-]{0,256}+")
_BETWEEN: Final = re.compile(r"[ _.-]++")
_VARIABLE: Final = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]{0,63}+\}\Z")
_PREFIX: Final = 12  # characters that a vendor puts in front of every key
_MIN_DIFFERENT_SIGNS: Final = 3  # different signs

_MIN_CHARACTERS: Final = 4  # shorter, and it cannot be told from any other word
_LONG: Final = 8  # from here on it is known in disguise, too
_URL_SAFE: Final = str.maketrans("+/", "-_")
_SPACES: Final = re.compile(r"\s++")
_NOT_WORD: Final = re.compile(r"[\W_]++")
_CODED: Final = re.compile(r"(?:%|\\x|&#x|\\u00)([0-9a-fA-F]{2});?+|&#(\d{2,3}+);?+")


def find_secret(plain: str, known: Collection[str]) -> Objection | None:
    """Object to a secret in a folded text, by value or by format."""
    if _holds_any(plain, known):
        sentence = "It contains a key or password that Remit works with."
        return Objection(sentence, HoldReason.SECRET)
    for shape in _SHAPES:
        found = _first(plain, shape) if shape.sign in plain else None
        if found:
            where = line(plain, found.start())
            return Objection(f"Line {where} holds what looks like {shape.what}.", HoldReason.SECRET)
    return None


def _first(text: str, shape: _Shape) -> re.Match[str] | None:
    found = shape.pattern.finditer(text)
    return next((match for match in found if not _is_example(_token(text, match))), None)


def _token(text: str, match: re.Match[str]) -> str:
    """Return the whole match: a format reads only as far as it must."""
    if match.re.groups:
        rest = _REST.match(text, match.end(1)) if match.end(1) == match.end() else None
        return " " * _PREFIX + match[1] + (rest[0] if rest else "")
    rest = _REST.match(text, match.end())
    return match[0] + (rest[0] if rest else "")


def _is_example(token: str) -> bool:
    """Whether it stands for a secret and is none: sk-xxxx, YOUR_TOKEN, ${TOKEN}, user:password@."""
    if len(set(token[_PREFIX:].lower()) - set("-_")) <= _MIN_DIFFERENT_SIGNS:
        return True
    bare = token.strip()
    words = [word for word in _BETWEEN.split(_inner(bare).lower()) if word]
    says = [word in _SAYS_EXAMPLE for word in words]
    known = all(
        spoken or word in _GOES_WITH_IT or len(set(word)) == 1
        for spoken, word in zip(says, words, strict=True)
    )
    return bool(_VARIABLE.match(bare)) or (any(says) and known)


def _inner(token: str) -> str:
    """Return the text between a placeholder's brackets, or all of it."""
    for left, right in _AROUND:
        if token.startswith(left) and token.endswith(right):
            return token[len(left) : len(token) - len(right)]
    return token


def _holds_any(text: str, secrets: Collection[str]) -> bool:
    """Whether a secret is in the text, plain, split, reversed or encoded."""
    if not secrets:
        return False
    close = _SPACES.sub("", text)
    loose = _letters(text) + " " + _letters(_CODED.sub(_decode_escape, text))
    return any(_is_in(_forms_of(secret), text, close, loose) for secret in secrets)


class _SecretForms(Struct, frozen=True):
    """The forms of a secret in a text: without spaces, and in disguise."""

    secret: str
    close: tuple[str, ...]
    loose: tuple[str, ...]


@lru_cache(maxsize=256)
def _forms_of(secret: str) -> _SecretForms:
    """Each text is held against all of them, and they are few."""
    plain = fold(secret).strip()
    close = (_SPACES.sub("", plain), *_base64_forms(plain))
    return _SecretForms(plain, close, tuple(x for x in _plain_disguises(plain) if len(x) >= _LONG))


def _is_in(forms: _SecretForms, text: str, close: str, loose: str) -> bool:
    secret = forms.secret
    if len(secret) < _LONG:
        alone = rf"(?<![^\W_]){re.escape(secret)}(?![^\W_])"
        return len(secret) >= _MIN_CHARACTERS and re.search(alone, text) is not None
    return any(form in close for form in forms.close) or any(form in loose for form in forms.loose)


def _letters(text: str) -> str:
    return _NOT_WORD.sub("", text).lower()


def _decode_escape(found: re.Match[str]) -> str:
    return chr(int(found[1], 16) if found[1] else int(found[2]))


def _plain_disguises(secret: str) -> tuple[str, ...]:
    bare = _letters(secret)
    return bare, bare[::-1], secret.encode("utf-8", "surrogatepass").hex()


def _base64_forms(secret: str) -> Iterator[str]:
    """Yield the secret as it looks within base64 of a longer text, at each offset."""
    for shift in range(3):
        coded = base64.b64encode(bytes(shift) + secret.encode("utf-8", "surrogatepass")).decode()
        # The first and last group may hold bits of the neighbours: leave them out.
        inner = coded[4 if shift else 0 : -4]
        if len(inner) >= _LONG:
            yield inner
            yield inner.translate(_URL_SAFE)
