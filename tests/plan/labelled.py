"""The labelled tasks: how they are parsed, and what the drafting makes of each."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from remit.plan.activities import default_activities
from remit.plan.contract import ContractRequest, DraftedContract, draft_contract
from tests.tables import read_yaml

HERE = Path(__file__).parent
NOW = datetime(2026, 2, 28, 10, tzinfo=UTC)
HALVES = ("held_out", "tuned", "fresh", "blind")


@dataclass(frozen=True)
class Labelled:
    asked: ContractRequest
    wanted: str  # a type of contract, or unsure
    trap: bool

    def drafted(self) -> DraftedContract:
        return draft_contract(self.asked, default_activities(), NOW)

    @property
    def found(self) -> str:
        drafted = self.drafted()
        return "unsure" if drafted.unsure else drafted.contract.type.value


def labelled(half: str) -> list[Labelled]:
    return [_labelled(raw) for raw in read_yaml((HERE / "contracts.yaml").read_text("utf-8"))[half]]


def _labelled(raw: dict[str, object]) -> Labelled:
    unknown = set(raw) - {"say", "files", "is", "trap", "prd", "prompt_for_advisory"}
    assert not unknown, unknown
    asked = ContractRequest(
        str(raw["say"]),
        tuple(cast("list[str]", raw.get("files", []))),
        prd=bool(raw.get("prd", False)),
        prompt_for_advisory=bool(raw.get("prompt_for_advisory", False)),
    )
    return Labelled(asked, str(raw["is"]), bool(raw.get("trap", False)))
