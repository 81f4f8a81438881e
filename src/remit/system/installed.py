"""Folders that tools fill by themselves: where git does not track them, they are not the work."""

from typing import Final

# As git reads them in a file of exclusions: at any depth, folders alone.
UNTRACKED: Final = (
    ".venv/",
    "node_modules/",
    "__pycache__/",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".tox/",
    ".nox/",
)
