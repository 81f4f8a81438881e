"""Folders that tools fill, such as installed packages; untracked, they are no part of the work."""

from typing import Final

# In git's syntax for exclusions: at any depth, folders only.
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
