"""The spine: one task from plan to receipts. Read spine.py first."""

from remit.model.run import Done, Fail, Later, Outcome, Retry, Wait, first_line
from remit.run.run_ports import GatedText, RunPorts
from remit.run.spine import MOST_FIXES, run
from remit.run.work import MOST_CALLS, MOST_TURNS

__all__ = ["Done", "Fail", "Later", "Outcome", "Retry", "Wait", "first_line"]
__all__ += ["MOST_CALLS", "MOST_FIXES", "MOST_TURNS", "GatedText", "RunPorts", "run"]
