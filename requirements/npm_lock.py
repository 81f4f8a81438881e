"""Write requirements/typescript/package-lock.json: names, versions and hashes, no address.

`python requirements/npm_lock.py` is a part of `make lock`.
"""

import json
import subprocess
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "typescript"
COMMAND = ("npm", "install", "--package-lock-only", "--omit-lockfile-registry-resolved", "--silent")


def main() -> None:
    """Resolve what package.json names, and leave out where each package is offered and funded."""
    subprocess.run(COMMAND, cwd=FOLDER, check=True)
    path = FOLDER / "package-lock.json"
    lock = json.loads(path.read_text())
    for package in lock["packages"].values():
        package.pop("funding", None)
        package.pop("resolved", None)
    path.write_text(json.dumps(lock, indent=2) + "\n")


if __name__ == "__main__":
    main()
