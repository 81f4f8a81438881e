"""Who calls and with which scopes: the owner, or a program."""

from enum import StrEnum
from typing import Final

from msgspec import Struct


class Scope(StrEnum):
    READ = "read"  # read tasks
    WRITE = "write"  # create, stop and start tasks
    APPROVE = "approve"  # decide reviews
    ADMIN = "admin"  # tokens, channels, contacts, rules


ALL: Final = frozenset(Scope)


class Caller(Struct, frozen=True):
    """Who makes a request. An agent's token never holds `approve` or `admin`."""

    name: str
    scopes: frozenset[Scope] = ALL
    agent: bool = False

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes and not (self.agent and scope in OWNERS)


OWNERS: Final = frozenset({Scope.APPROVE, Scope.ADMIN})
OWNER: Final = Caller("owner")
NOBODY: Final = Caller("nobody", frozenset())
