"""Every error Remit raises on purpose, sorted by who must act.

RemitError
├── BadInput            the caller sent something invalid; change it
│   ├── KeyReused       an Idempotency-Key came back with another body
│   ├── UnknownName     a field names something that does not exist
│   └── NotPossibleNow  a field is well formed, but does not fit how things stand
├── NotFound            the caller named something that does not exist
├── Conflict            not possible in the current state
│   ├── IllegalMove     a task may not move to that status
│   ├── AlreadyDecided  somebody answered this review before
│   └── OutOfDate       it changed since the caller saw it
├── StepFailed          a step failed; the engine decides what follows
│   ├── Transient       it may work later
│   └── Permanent       it will not
├── LeaseLost           another leg holds this task now; stop and write nothing
├── WriteRefused        the store takes other writes, but never this one
├── StoreTrouble        the operator must look at the disk or the file
│   ├── StoreForeign    the file is not ours
│   ├── StoreCorrupt    the file is damaged
│   ├── StoreNewer      the file was written by a newer Remit
│   ├── StoreBusy       another program holds the file locked
│   └── StoreFull       there is no room left to write
├── HomeLocked          another Remit works in this directory
└── Unreachable         the running Remit does not answer
"""

from collections.abc import Iterable


class RemitError(Exception):
    """Base of everything Remit raises on purpose; its text is a sentence for a person."""


class BadInput(RemitError):
    def __init__(self, sentence: str, *, field: str | None = None) -> None:
        super().__init__(sentence)
        self.field = field


class KeyReused(BadInput):
    def __init__(self, key: str) -> None:
        super().__init__(
            f"The key {key!r:.60} was used before with another request. "
            "Send the same request again, or take a new key."
        )


class UnknownName(BadInput):
    """A field names something that does not exist: a channel, a contact, a time zone, a page."""


class NotPossibleNow(BadInput):
    """A field is well formed, but does not fit how things stand: a time that has passed."""


class NotFound(RemitError):
    def __init__(self, kind: str, ident: str) -> None:
        super().__init__(f"There is no {kind} {ident}.")


class Conflict(RemitError):
    """The request is understood, but not possible in the current state."""


class IllegalMove(Conflict):
    def __init__(self, task: str, now: str, to: str, allowed: Iterable[str]) -> None:
        self.allowed = tuple(sorted(allowed))
        may = ", ".join(self.allowed) or "nothing more"
        super().__init__(f"Task {task} is {now}; it may become {may}, not {to}.")


class AlreadyDecided(Conflict):
    def __init__(self, review: str, answer: str, at: str) -> None:
        super().__init__(f"Review {review} was decided before: {answer}, at {at}.")


class OutOfDate(Conflict):
    """The caller decided on outdated data; it must look again."""


class StepFailed(RemitError):
    """A step failed."""


class Transient(StepFailed):
    def __init__(self, sentence: str, *, after: float | None = None) -> None:
        super().__init__(sentence)
        self.after = after


class Permanent(StepFailed):
    """A retry would fail the same way."""


class LeaseLost(RemitError):
    def __init__(self, task: str, lease: int) -> None:
        super().__init__(f"Lease {lease} on {task} has ended; another leg may hold it.")


class WriteRefused(RemitError):
    """The store takes other writes, but never this one: waiting does not help."""


class StoreTrouble(RemitError):
    """The operator must look at the disk or the file."""


class StoreForeign(StoreTrouble):
    def __init__(self, path: str, what: str) -> None:
        super().__init__(
            f"{path} is not a Remit database ({what}). Nothing was changed. "
            "Point REMIT_HOME at another directory, or move that file away."
        )


class StoreCorrupt(StoreTrouble):
    def __init__(self, path: str, what: str) -> None:
        super().__init__(
            f"{path} is damaged ({what}). Nothing was changed. "
            "Restore the newest backup with `remit restore`, or keep the file for rescue."
        )


class StoreNewer(StoreTrouble):
    def __init__(self, path: str, found: int, known: int) -> None:
        super().__init__(
            f"{path} has schema {found}; this Remit knows up to {known}. Upgrade Remit."
        )


class StoreMoved(StoreTrouble):
    def __init__(self, path: str, where: str) -> None:
        super().__init__(
            f"{path} was moved to {where}, and what is in it may be out of date. Name that "
            "database under [store] in settings.toml; if the move was interrupted, run "
            "`remit move` again."
        )


class StoreAway(StoreTrouble):
    """The server of the database does not answer, or refuses us."""

    def __init__(self, where: str, why: str) -> None:
        secret = "password" in why or "authentication" in why
        check = (
            "Check PGPASSWORD or ~/.pgpass, and the user in the address (`[store] url`)."
            if secret
            else "Check the address (`[store] url`), and that the server is running."
        )
        super().__init__(f"The database {where} cannot be reached: {why}. {check}")


class StoreBusy(StoreTrouble):
    def __init__(self, path: str, seconds: float) -> None:
        super().__init__(
            f"{path} is locked by another program for more than {seconds:.0f} s. "
            "Nothing is lost; Remit goes on once it is free."
        )


class StoreFull(StoreTrouble):
    def __init__(self, path: str, what: str) -> None:
        super().__init__(
            f"{path} cannot be written ({what}). What was acknowledged is safe. "
            "Make room on the disk; Remit goes on by itself."
        )


class HomeLocked(RemitError):
    def __init__(self, home: str, holder: str) -> None:
        super().__init__(
            f"Another Remit works in {home} ({holder}). One process per directory: "
            "stop that one, or use another REMIT_HOME."
        )


class StoreLocked(HomeLocked):
    def __init__(self, where: str) -> None:
        RemitError.__init__(
            self,
            f"Another Remit works on {where}. One process per database: stop that one, "
            "or name another database under [store] in settings.toml.",
        )


class Unreachable(RemitError):
    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"The Remit that works in this directory ({where}) does not answer: {why}")
