"""A question by mail: its signed links open the card, and opening one never decides anything."""

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from tests.channels.telegram.chat_town import seat_of
from tests.live.http_client import Client
from tests.live.loopback import LIMIT_SECONDS
from tests.live.providers import Providers

NOTICES = """\
[notices]
question = ["post"]
done = "none"
link = "https://remit.example.test"
"""
ANNA = "- name: Anna\n  channels: {email: anna@home.example}\n"
NOTHING_YET = "Nothing is done yet."
UNFIT = "The link in your mail does not fit any more."


def _links(town: Providers) -> Mapping[str, str]:
    """The links of the last mail to the owner, by what they say."""
    letter = town.office.accepted[-1].parsed.get_body(("html",))
    assert letter is not None
    found = re.findall(
        r'<a [^>]*href="([^"]+&amp;answer=[^"]+)"[^>]*>([^<]+)</a>', letter.get_content()
    )
    return {label: url.replace("&amp;", "&") for url, label in found}


def _opened(client: Client, url: str, *, signed_in: bool = True) -> httpx2.Response:
    """Follow a link as a browser does that is signed in, or as one of somebody else."""
    parts = urlsplit(url)
    token = (client.seat.home / "token").read_text().strip()
    head = {"authorization": f"Bearer {token}"} if signed_in else {}
    where = f"{client.up.told['url']}{parts.path}?{parts.query}"
    return httpx2.get(where, headers=head, trust_env=False, timeout=LIMIT_SECONDS)


def test_a_link_in_a_mail_opens_the_card_and_only_a_press_there_decides(tmp_path: Path) -> None:
    with Providers(phones=1) as town:
        seat = seat_of(tmp_path)
        with (seat.home / "settings.toml").open("a") as settings:
            settings.write(
                f"{NOTICES}[channels.post]{town.settings().partition('[channels.post]')[2]}"
            )
        (seat.home / "contacts.yaml").write_text(ANNA)
        with seat.up() as up:
            client = Client(seat, up)
            task = client.send("See you at noon.", "post", to="Anna")
            client.until(task, "needs_review")
            client.wait(lambda: town.office.accepted, "the mail of the question")
            links = _links(town)
            assert list(links) == ["Approve", "Edit", "Send back", "Decline"]
            for label, url in links.items():
                page = _opened(client, url)
                assert (page.status_code, f"From your mail: {label}." in page.text) == (200, True)
                assert NOTHING_YET in page.text
                stranger = _opened(client, url, signed_in=False)
                assert stranger.status_code in (303, 401)
                assert "See you at noon." not in stranger.text
            _forged(client, links)
            assert client.question(task)["decision"] is None
            assert len(town.office.accepted) == 1, "nothing went to Anna"

            client.decide(task, "approve")
            client.until(task, "completed")
            assert UNFIT in _opened(client, links["Decline"]).text
            assert [mail.to for mail in town.office.accepted[1:]] == [("anna@home.example",)]


def _forged(client: Client, links: Mapping[str, str]) -> None:
    """A link that was changed, or of another answer, is said not to fit."""
    approve, decline = links["Approve"], links["Decline"]
    mac = decline.rpartition("%3A")[2]
    for url in (
        approve[:-1] + ("A" if approve[-1] != "A" else "B"),
        approve.rpartition("%3A")[0] + "%3A" + mac,
        approve.replace("by=post", "by=dashboard"),
    ):
        assert UNFIT in _opened(client, url).text, url
