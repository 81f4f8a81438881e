"""Flags that several commands share, and helpers to declare one."""

from typing import Annotated, TypeAlias

from cyclopts import Parameter


def flag(said: str, *names: str) -> Parameter:
    """Declare a flag or argument: its help, and its names if not its own."""
    return Parameter(name=names or None, help=said)


def free(said: str) -> Parameter:
    """Declare an argument that may begin with a hyphen, or be one."""
    return Parameter(help=said, allow_leading_hyphen=True)


AsJson: TypeAlias = Annotated[bool, flag("JSON on stdout, for programs.", "--json")]
Ids: TypeAlias = Annotated[str, free("Ids, or the first letters of them; - reads them from stdin.")]
Id: TypeAlias = Annotated[str, flag("The id, or the first letters of it.")]
Wait: TypeAlias = Annotated[
    bool, flag("Stay until it rests, and exit with what it is then.", "--wait")
]
Timeout: TypeAlias = Annotated[
    float | None, flag("With --wait: leave after so many seconds, with code 124.")
]
