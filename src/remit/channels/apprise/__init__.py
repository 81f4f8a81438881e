"""Notifications through Apprise, in a process of its own. Here: its section of the settings."""

from collections.abc import Mapping
from typing import ClassVar

from remit.channels import ChannelKind
from remit.model.codec import Json


class AppriseTargets(ChannelKind, frozen=True, kw_only=True):
    """Places that Apprise writes to: each by a name, with the name of the secret that leads there.

    `owner` is the one that is you.
    """

    kind: ClassVar[str] = "apprise"
    service: ClassVar[str] = "Apprise"
    built_by: ClassVar[str] = "remit.channels.apprise.sending"
    promise: ClassVar[str] = (
        "Sends nothing twice without asking you. If the connection breaks while sending, you are "
        "asked."
    )

    asks: ClassVar[Mapping[str, tuple[str, str]]] = {
        "targets": ("Targets", "One a line: a name = the name of a secret (`remit secrets set`)."),
        "owner": ("Which one is you", "A name from above."),
    }

    targets: dict[str, Json]
    owner: str = ""
    private: bool = False

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(str(each) for each in self.targets.values())

    def problem(self) -> str:
        strings = all(isinstance(each, str) for each in self.targets.values())
        return "" if strings else "targets must map names to names of secrets"
