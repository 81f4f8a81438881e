"""Template rendering: everything is escaped; a few shared helpers."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup, escape

from remit.server import static
from remit.server.web import words

_TEMPLATES: Final = Path(__file__).parent.parent / "templates"


def render(name: str, values: Mapping[str, object]) -> str:
    """Render a page or a part of one, such as `pages/inbox.html`."""
    return _environment().get_template(name).render(values)


def address(name: str) -> str:
    """Return the address of a static file; it changes with the content."""
    return f"/static/{name}?v={static.files()[name].digest}"


@cache
def templates() -> Mapping[str, str]:
    """Return the source of every template, loaded once: the folder may be missing in an upgrade."""
    paths = (path for path in _TEMPLATES.rglob("*.html"))
    return {path.relative_to(_TEMPLATES).as_posix(): path.read_text("utf-8") for path in paths}


@cache
def _environment() -> Environment:
    made = Environment(
        loader=DictLoader(templates()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals |= {"static": address, "time_tag": time_tag}
    made.filters |= {
        "state": words.state,
        "channel_icon": words.channel_icon,
        "source": words.source,
        "money": words.money,
        "clock": words.clock,
        "day": words.day,
        "ago": words.ago,
        "span": words.span,
        "count": words.count,
        "first": words.first_line,
    }
    return made


def time_tag(at: datetime, text: str, *, live: bool = False) -> Markup:
    """Return a time tag, for people and for the script that updates "4 min ago"."""
    kept, title = " data-ago" if live else "", f"{at:%Y-%m-%d %H:%M:%S}"
    said = f'<time datetime="{at.isoformat()}" title="{title}"{kept}>{escape(text)}</time>'
    return Markup(said)  # noqa: S704 - all of it is ours but the text, which is escaped
