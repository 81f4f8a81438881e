"""A specialist that is a program: `hand.py FOLDER` does the next turn of FOLDER/script.json.

A turn says which files to `write`, `delete` and `link`, what to `say` and to `complain`, whether to
`hang` until it is ended, and with which `code` to end. What it was told is kept in FOLDER.
"""

import json
import sys
import time
from pathlib import Path


def main() -> int:
    folder = Path(sys.argv[1])
    n = len(list(folder.glob("told-*.md")))
    (folder / f"told-{n}.md").write_text(sys.stdin.read())
    script = json.loads((folder / "script.json").read_text())
    turn = script[min(n, len(script) - 1)]
    for name, text in turn["write"].items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    for name in (*turn["delete"], *turn["link"]):
        Path(name).unlink(missing_ok=True)
    for name, target in turn["link"].items():
        Path(name).symlink_to(target)
    sys.stdout.write(turn["say"] + "\n")
    sys.stdout.flush()
    sys.stderr.write(turn["complain"] + "\n")
    if turn["hang"]:
        (folder / f"hangs-{n}").touch()
        time.sleep(600)
    return int(turn["code"])


if __name__ == "__main__":
    sys.exit(main())
