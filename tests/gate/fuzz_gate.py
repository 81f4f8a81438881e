"""A fuzzer for the gate that sees which branches an input takes.

`make soak` runs it where atheris is installed; by hand, with as many runs as you like:

    python tests/gate/fuzz_gate.py -runs=1000000 -max_len=4096
"""

import importlib
import sys

from remit import gate
from remit.model.reply import Deliverable, Reply

MOST = 4096


def try_one(data: bytes) -> None:
    """Judge one input; a broken promise of the gate raises."""
    text = data.decode("utf-8", "surrogateescape")
    for reply in (text, f"{gate.OPEN}{text}{gate.CLOSE}"):
        judged = gate.judge(Reply(reply), most=MOST)
        if isinstance(judged, Deliverable):
            _check(reply, judged)
        elif not judged.reason.isprintable():
            raise AssertionError(judged)


def _check(reply: str, judged: Deliverable) -> None:
    _, _, rest = reply.partition(gate.OPEN)
    inside, _, _ = rest.partition(gate.CLOSE)
    if judged.text != inside.strip(" \t\r\n"):
        raise AssertionError(judged)
    if gate.judge_text(judged.text, most=MOST) != judged:
        raise AssertionError(judged)


def main() -> None:
    atheris = importlib.import_module("atheris")
    atheris.instrument_all()
    atheris.Setup(sys.argv, try_one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
