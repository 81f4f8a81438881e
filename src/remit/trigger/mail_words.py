"""Whose words stand in a mail: those its writer wrote, and those he passes on from others.

An answer repeats what it answers, and a mail that is sent on carries another whole. Those words are
somebody else's, whoever sent them: they are set apart, and what is not surely the writer's own is
not taken for his.
"""

import re
from dataclasses import dataclass
from typing import Final

# Names of the head of a mail, as programs write it above what they pass on, in a few languages.
_FIELDS: Final = r"From|Von|De|Da|Van|Fra|Från|Od|Sent|Gesendet|Enviado|Envoyé|Date|Datum|Fecha|To|An|Para|À|A|Subject|Betreff|Asunto|Objet|Oggetto|Cc"  # noqa: E501
_FIELD: Final = re.compile(rf"\s*\*?(?:{_FIELDS})\*?\s?:\*?\s\S", re.IGNORECASE)
_RULE: Final = re.compile(r"\s*[-_=*]{2,}(?:.{0,60}[-_=*]{2,})?\s*")
_WROTE: Final = re.compile(
    r"(?i)\b(?:wrote|schrieb|escribió|écrit|scritto|schreef|skrev|napisał\w*|escreveu)\b"
)
_PASSED_ON: Final = re.compile(r"\s*(?:fwd?|wg|rv|tr|i|fs|vs|enc)\s*:", re.IGNORECASE)
_ANSWERED: Final = re.compile(r"\s*(?:(?:re|aw|sv|ref|antw?)\s*:\s*)+", re.IGNORECASE)
_SIGNATURE: Final = re.compile(r"--\s*")
_MOST_LINES: Final = 5_000
_LONGEST: Final = 400  # characters of a line that may be one of a program's


@dataclass(frozen=True, slots=True)
class Words:
    """The writer's own words, and what he passes on; `passed_on` may be empty."""

    own: str
    passed_on: str = ""


def parted(text: str) -> Words:
    """Tell the two apart, line by line."""
    lines = text.split("\n")[:_MOST_LINES]
    cut = next((n for n in range(len(lines)) if _begins(lines, n)), len(lines))
    own = [line for line in lines[:cut] if not line.lstrip().startswith((">", "|"))]
    others = [line for line in lines[:cut] if line.lstrip().startswith((">", "|"))]
    end = next((n for n, line in enumerate(own) if _SIGNATURE.fullmatch(line)), len(own))
    return Words("\n".join(own[:end]).strip(), "\n".join([*others, *lines[cut:]]).strip())


def is_passed_on(subject: str) -> bool:
    """Whether a subject says that the mail is another's."""
    return _PASSED_ON.match(subject) is not None


def subject(text: str) -> str:
    """A subject without the marks of an answer."""
    return _ANSWERED.sub("", text, count=1).strip()


def _begins(lines: list[str], n: int) -> bool:
    """Whether what another wrote begins in a line."""
    if len(lines[n]) > _LONGEST:
        return False
    if _is_lead(lines[n]) or _is_lead(" ".join(lines[n : n + 2])):
        return True
    follows = [each[:_LONGEST] for each in lines[n + 1 : n + 4] if each.strip()][:2]
    heads = any(_FIELD.match(each) for each in follows)
    return heads and bool(_FIELD.match(lines[n]) or _RULE.fullmatch(lines[n]))


def _is_lead(line: str) -> bool:
    """Whether a line says who wrote what follows: it ends with a colon."""
    return len(line) <= _LONGEST and line.rstrip().endswith(":") and bool(_WROTE.search(line))
