"""The kinds of work that a project's rules know; chains and capabilities may name them."""

from collections.abc import Callable, Collection

from remit.errors import BadInput
from remit.plan import activities
from remit.settings import Settings
from remit.settings.projects import ProjectSettings
from remit.specialist import chain
from remit.wiring.proof import papers_of


def kinds(settings: Settings) -> Callable[[ProjectSettings], Collection[str]]:
    """Return a function that gives a project's kinds of work: its critics, advice, and text."""

    def known(project: ProjectSettings) -> Collection[str]:
        try:
            rules = activities.load(*papers_of(settings, project.path))
        except (BadInput, OSError, UnicodeDecodeError):
            # Unreadable rules are reported where they are used; here nothing is doubted.
            return frozenset(project.chains)
        return rules.critics | {chain.ADVICE, chain.TEXT}

    return known
