"""`remit add --watch` in real processes: a page that did not change wakes no model."""

import asyncio
import json
from pathlib import Path

from tests.cli.terminal import SETTINGS, Terminal
from tests.live.site import Page, Site

SCRIPT = """\
- reply: <deliverable>The price list was read.</deliverable>
"""


async def test_a_watch_is_set_shown_and_looked_at(tmp_path: Path) -> None:
    async with Site({"/list": Page("<p>Bread: 4 EUR.</p>")}) as site:
        await asyncio.to_thread(_story, Terminal(tmp_path, script=SCRIPT), site)
        assert len(site.heard) == 1


def _story(seat: Terminal, site: Site) -> None:
    host = f'\n[web]\nown_hosts = ["{site.host}"]\n'
    (seat.home / "settings.toml").write_text(SETTINGS + host)
    watch = ("--every", "1h", "--watch", site.url("/list"), "--watch-for", r"Bread: (\d+)")
    with seat.up():
        receipt = seat.run("add", "Look at the price list", *watch)
        planned = seat.only()
        shown = seat.run("why", planned).out
        (ran,) = json.loads(seat.run("run", planned, "--wait", "--json").out)["tasks"]
        log = seat.run("log", ran["id"]).out
        wrong = seat.run("add", "Look", "--as-is", "--watch", "ftp://example.org")
        alone = seat.run("add", "Look", "--watch-for", "x")
        nowhere = seat.run("add", "Look", "--every", "1h", "--watch", "calendar:nope")

    target = f"{site.url('/list')} (Bread: (\\d+))"
    assert f"Runs only if changed {target}" in " ".join(receipt.out.split())
    assert f"Runs only if this changed: {target}." in shown
    assert ran["resultSummary"] == "The price list was read."
    assert "Looked whether something changed" in log
    assert (wrong.code, alone.code, nowhere.code) == (2, 2, 2)
    assert "Remit reads no calendar 'nope'" in nowhere.err
    assert "it may be an address" in wrong.err
    assert "--watch-for needs --watch" in alone.err
