"""Reads whatever the links in the workspace lead to."""

# ruff: noqa: T201 - a hostile script, for the sandbox alone

from pathlib import Path

for link in ("shadow", "folder/passwd", "outside", "chain"):
    try:
        print(Path(link).read_text())
    except OSError as error:
        print(link, error.strerror)
print("TRIED")
