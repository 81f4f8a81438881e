"""Coding agents installed on this machine, and their settings as specialists."""

import shutil
from collections.abc import Iterator
from typing import Final

from msgspec import Struct


class InstalledAgent(Struct, frozen=True):
    """An installed agent: its name, its protocol, and what it needs of the home."""

    name: str
    kind: str  # acp or command
    argv: tuple[str, ...]
    env: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


# For each agent the Agent Client Protocol comes first: it can ask before it acts.
_KNOWN: Final = (
    InstalledAgent(
        "claude",
        "acp",
        ("claude-agent-acp",),
        ("ANTHROPIC_API_KEY",),
        ("~/.claude", "~/.claude.json"),
    ),
    InstalledAgent(
        "claude",
        "command",
        ("claude", "--print", "--permission-mode", "acceptEdits"),
        ("ANTHROPIC_API_KEY",),
        ("~/.claude", "~/.claude.json"),
    ),
    InstalledAgent("codex", "acp", ("codex-acp",), ("OPENAI_API_KEY",), ("~/.codex",)),
    InstalledAgent(
        "codex",
        "command",
        ("codex", "exec", "--sandbox", "workspace-write", "-"),
        ("OPENAI_API_KEY",),
        ("~/.codex",),
    ),
    InstalledAgent(
        "opencode",
        "acp",
        ("opencode", "acp"),
        (),
        ("~/.local/share/opencode", "~/.config/opencode"),
    ),
    InstalledAgent(
        "gemini", "acp", ("gemini", "--experimental-acp"), ("GEMINI_API_KEY",), ("~/.gemini",)
    ),
)


def find(path: str | None) -> Iterator[InstalledAgent]:
    """Yield each agent found in the folders of `path`, in its best form."""
    seen = set[str]()
    for agent in _KNOWN:
        if agent.name not in seen and shutil.which(agent.argv[0], path=path):
            seen.add(agent.name)
            yield agent
