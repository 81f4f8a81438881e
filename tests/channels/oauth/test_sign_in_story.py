"""A new user connects a mail account in the terminal, loses it, and connects it again."""

from pathlib import Path

from tests.channels.oauth.identity_server import HOSTILE, SECRET, USER, USER_CODE
from tests.channels.oauth.sign_in_town import SignInTown
from tests.channels.telegram.chat_town import seat_of
from tests.cli.terminal import Terminal
from tests.live.http_client import Client

CANARY = "canary"  # in every token and secret of the provider


def test_mail_goes_out_waits_when_the_sign_in_is_revoked_and_goes_on_after_a_new_one(
    tmp_path: Path,
) -> None:
    with SignInTown(tmp_path) as town:
        seat = seat_of(tmp_path)
        added = town.add(seat, "gmail", stdin=f"{SECRET}\n")
        assert added.code == 0, added.err
        assert town.provider.asks("/authorize")[0]["scope"] == "https://mail.google.com/"
        listed = seat.run("channels")
        assert "ok" in listed.out, listed.out
        with seat.up() as up:
            client = Client(seat, up)
            client.until(client.send("Good day.", "gmail"), "completed")
            town.quiet()  # a kept connection is still logged in
            town.revoke()
            waiting = [client.send(text, "gmail") for text in ("Good evening.", "Good night.")]
            _assert_locked(client, waiting)
            assert len(town.office.accepted) == 1
            assert len(town.provider.asks("/token")) == 2, "the code, and one refused renewal"
            again = town.run(seat, "channels", "connect", "gmail", "--json")
            assert (again.code, again.json.get("released")) == (0, 2), again.err
            for each in waiting:
                client.until(each, "completed")
            assert len(town.office.accepted) == 3
    _assert_no_secret_outside(seat)


def _assert_locked(client: Client, tasks: list[str]) -> None:
    """The tasks wait; both the questions and the list of channels say what to do."""
    for each in tasks:
        client.until(each, "needs_review")
        assert "Run `remit channels connect gmail`" in str(client.question(each)["question"])
    state = client.seat.run("channels")
    assert "no longer accepts the sign-in" in state.out
    assert "gmail: remit channels connect gmail" in state.err


def _assert_no_secret_outside(seat: Terminal) -> None:
    """Tokens and the client secret are in the file of secrets alone."""
    for path in seat.home.rglob("*"):
        if path.is_file() and path.name != "secrets":
            assert CANARY.encode() not in path.read_bytes(), path
    assert (seat.home / "secrets").stat().st_mode & 0o777 == 0o600


def test_outlook_is_connected_by_a_code_that_is_typed_in_elsewhere(tmp_path: Path) -> None:
    with SignInTown(tmp_path, secret="") as town:
        seat = seat_of(tmp_path)
        town.provider.device = ["authorization_pending"]
        added = town.add(seat, "outlook")
        assert added.code == 0, added.err
        assert USER_CODE in added.err
        text = (seat.home / "settings.toml").read_text()
        assert 'provider = "microsoft"' in text
        assert "client_secret" not in text
        sent = seat.run("channels", "test", "outlook", "--json")
        assert sent.json["status"] == "sent", sent.err
        assert [mail.to for mail in town.office.accepted] == [(USER,)]
        gone = seat.run("channels", "disconnect", "outlook")
        assert "gone here. At Microsoft remove the app too" in gone.err
        assert "is not connected with microsoft yet" in seat.run("channels").out


def test_a_sign_in_that_fails_changes_nothing(tmp_path: Path) -> None:
    with SignInTown(tmp_path) as town:
        seat = seat_of(tmp_path)
        before = (seat.home / "settings.toml").read_text()
        town.provider.declines = True
        declined = town.add(seat, "gmail", stdin=f"{SECRET}\n")
        assert declined.code != 0
        assert "You declined there, so nothing is connected." in declined.err
        assert HOSTILE not in declined.err
        town.provider.declines = False
        wrong = town.add(seat, "gmail", stdin="another secret\n")
        assert "the client secret is wrong" in wrong.err
        lacks = seat.run("channels", "add", "gmail", "--address", USER)
        assert "--client-id" in lacks.err
        assert (seat.home / "settings.toml").read_text() == before
        assert not (seat.home / "secrets").exists()
