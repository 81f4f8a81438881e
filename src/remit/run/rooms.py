"""The rooms a task walks through, and what they pass on."""

from dataclasses import dataclass, field

from remit.brain.think import Thinker
from remit.brain.tools import Toolbox
from remit.deliver.courier import Courier
from remit.gate import Author, Known
from remit.plan.draft import Planner
from remit.recall.session import Recall
from remit.verify.verdict import Verifier


@dataclass(frozen=True, slots=True)
class Written:
    """A text that passed the gate, and whose it is."""

    text: str
    author: Author
    asks_first: bool = False  # whether even the owner is asked before he gets it


@dataclass(frozen=True, slots=True)
class Rooms:
    planner: Planner
    recall: Recall
    thinker: Thinker
    verifier: Verifier
    courier: Courier
    known: Known = field(default_factory=Known)
    tools: Toolbox = field(default_factory=Toolbox)
