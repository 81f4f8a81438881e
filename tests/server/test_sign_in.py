"""The owner's browser: a link that opens once, a cookie nobody else can use, and the way out."""

import html
import re
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from remit.errors import BadInput
from remit.server import files
from remit.settings import ServerSettings, Settings
from tests.server.served import TOKEN, Served

FORM = "application/x-www-form-urlencoded"


def _link(fresh: Served) -> str:
    link = str(fresh.post("/api/sign-ins")["url"])
    assert link.startswith(fresh.pages)
    return link.removeprefix(fresh.pages)


def _get(fresh: Served, path: str, cookie: str = "", **headers: str) -> httpx2.Response:
    sent = {"Cookie": cookie} if cookie else {}
    fresh.client.cookies.clear()
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return fresh.client.get(fresh.pages + path, headers=sent | more)


def _post(
    fresh: Served, path: str, form: str = "", cookie: str = "", **headers: str
) -> httpx2.Response:
    sent = {"Content-Type": FORM} | ({"Cookie": cookie} if cookie else {})
    fresh.client.cookies.clear()
    return fresh.client.post(fresh.pages + path, content=form, headers=sent | headers)


def _cookie(answer: httpx2.Response) -> str:
    assert answer.status_code == 303, answer.text
    return str(answer.headers["set-cookie"]).partition(";")[0]


# The link -----------------------------------------------------------------------------------------


def test_a_link_signs_in_once(fresh: Served) -> None:
    link = _link(fresh)
    first, second = _get(fresh, link), _get(fresh, link)

    assert (first.status_code, first.headers["location"]) == (303, "/")
    kept = str(first.headers["set-cookie"])
    assert re.fullmatch(
        r"remit-\d+=[\w-]{43}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000", kept
    )
    assert second.status_code == 401
    assert "set-cookie" not in second.headers
    assert "was used before" in second.text
    assert _get(fresh, "/api/tasks", _cookie(first)).status_code == 200
    assert _get(fresh, "/api/tasks").status_code == 401


def test_a_link_is_good_for_a_quarter_of_an_hour(fresh: Served) -> None:
    early, late = _link(fresh), _link(fresh)
    fresh.clock.advance(timedelta(minutes=15) - timedelta(seconds=1))
    before = _get(fresh, early)
    fresh.clock.advance(timedelta(seconds=1))

    assert (before.status_code, _get(fresh, late).status_code) == (303, 401)


def test_a_browser_stays_signed_in_for_thirty_days(fresh: Served) -> None:
    cookie = _cookie(_get(fresh, _link(fresh)))
    fresh.clock.advance(timedelta(days=30) - timedelta(seconds=1))
    before = _get(fresh, "/api/tasks", cookie).status_code
    fresh.clock.advance(timedelta(seconds=1))

    assert (before, _get(fresh, "/api/tasks", cookie).status_code) == (200, 401)


def test_neither_code_nor_cookie_is_kept_as_it_is(fresh: Served) -> None:
    used, unused = _link(fresh), _link(fresh)
    cookie = _cookie(_get(fresh, used)).partition("=")[2]
    with closing(sqlite3.connect(fresh.home / "agent.db")) as file:
        kept = "\n".join(file.iterdump())

    assert "sign_ins" in kept
    for secret in (used.partition("code=")[2], unused.partition("code=")[2], cookie):
        assert secret not in kept


# The token ----------------------------------------------------------------------------------------


def test_the_token_signs_in_too_and_goes_where_one_wanted_to_go(fresh: Served) -> None:
    asked = _get(fresh, "/sign-in?next=/tasks%3Fq%3Dx")
    entered = _post(fresh, "/sign-in", f"token={TOKEN}&next={quote('/tasks?q=x', safe='')}")

    assert asked.status_code == 200
    assert 'value="/tasks?q=x"' in asked.text
    assert entered.headers["location"] == "/tasks?q=x"
    assert _get(fresh, "/api/tasks", _cookie(entered)).status_code == 200
    assert _get(fresh, "/sign-in?next=/tasks", _cookie(entered)).headers["location"] == "/tasks"


@pytest.mark.parametrize(
    "elsewhere",
    [
        "http://evil.test/",
        "//evil.test/",
        "/\\evil.test",
        "\\\\evil.test",
        "javascript:alert(1)",
        "/\t/evil.test",
        "evil",
        "/sign-out",
        "",
    ],
)
def test_nobody_is_sent_to_another_place(fresh: Served, elsewhere: str) -> None:
    told = quote(elsewhere, safe="")
    by_link = _get(fresh, f"{_link(fresh)}&next={told}")
    by_token = _post(fresh, "/sign-in", f"token={TOKEN}&next={told}")

    assert [by_link.headers["location"], by_token.headers["location"]] == ["/", "/"]


def test_a_token_of_a_program_signs_nobody_in(fresh: Served) -> None:
    made = fresh.post("/api/tokens", {"name": "x", "scopes": ["read", "admin", "approve"]})

    assert _post(fresh, "/sign-in", f"token={made['secret']}").status_code == 401


def test_wrong_tokens_and_links_never_keep_the_owner_out(fresh: Served) -> None:
    wrong = [_post(fresh, "/sign-in", "token=wrong").status_code for _ in range(30)]
    by_site = [
        _get(fresh, "/sign-in?code=wrong", Sec_Fetch_Site="cross-site").status_code
        for _ in range(30)
    ]

    assert set(wrong + by_site) == {401}
    assert _post(fresh, "/sign-in", f"token={TOKEN}").status_code == 303
    assert _get(fresh, _link(fresh)).status_code == 303


# The name of the pages ----------------------------------------------------------------------------


def test_the_pages_have_a_random_name_that_stays(fresh: Served, tmp_path: Path) -> None:
    name = (fresh.home / "pages-host").read_text()

    assert re.fullmatch(r"remit-[0-9a-f]{20}\.localhost", name)
    assert (fresh.home / "pages-host").stat().st_mode & 0o777 == 0o600
    assert files.pages_host(fresh.home) == name
    assert files.pages_host(tmp_path / "another") != name


def test_a_cookie_counts_under_the_name_of_the_pages_alone(fresh: Served) -> None:
    cookie = _cookie(_get(fresh, _link(fresh)))
    seen = {
        host: _get(fresh, "/api/tasks", cookie, Host=f"{host}:{fresh.port}").status_code
        for host in ("127.0.0.1", "localhost", "[::1]", "remit-other.localhost")
    }

    assert _get(fresh, "/api/tasks", cookie).status_code == 200
    assert seen == {"127.0.0.1": 401, "localhost": 401, "[::1]": 401, "remit-other.localhost": 421}


def test_who_has_no_token_is_never_told_the_name_of_the_pages(fresh: Served) -> None:
    name = (fresh.home / "pages-host").read_text()
    for path in ("/", "/inbox", "/sign-in", "/sign-in?code=wrong", "/healthz", "/nowhere"):
        for headers in ({}, {"Accept": "text/html"}, {"HX-Request": "true"}):
            answer = fresh.client.get(fresh.url + path, headers=headers)
            assert name not in answer.text
            assert name not in str(answer.headers)
    wrong = fresh.client.post(
        f"{fresh.url}/sign-in", content="token=wrong", headers={"Content-Type": FORM}
    )
    assert wrong.status_code == 401
    assert name not in wrong.text


def test_the_token_given_at_127_0_0_1_leads_to_the_pages(fresh: Served) -> None:
    answer = fresh.client.post(
        f"{fresh.url}/sign-in",
        content=f"token={TOKEN}&next={quote('/tasks?q=x', safe='')}",
        headers={"Content-Type": FORM, "Origin": fresh.url},
    )
    link = html.unescape(re.findall(r'href="(http://remit[^"]+)"', answer.text)[0])
    arrived = _get(fresh, link.removeprefix(fresh.pages), Sec_Fetch_Site="cross-site")

    assert "set-cookie" not in answer.headers
    assert link.startswith(f"{fresh.pages}/sign-in?code=")
    # A browser that came from another site sends a strict cookie only once our own page asks.
    assert arrived.status_code == 200
    assert 'content="0; url=/tasks?q=x"' in arrived.text
    cookie = str(arrived.headers["set-cookie"]).partition(";")[0]
    assert _get(fresh, "/api/tasks", cookie).status_code == 200


def test_without_a_name_of_their_own_the_pages_are_at_127_0_0_1(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, server=ServerSettings(own_name=False))
    with Served(tmp_path, settings=settings) as served:
        cookie = _cookie(_get(served, _link(served)))

        assert served.pages == served.url
        assert _get(served, "/api/tasks", cookie).status_code == 200


@pytest.mark.parametrize("text", ["", "evil.example", "a.b.localhost", "-.localhost"])
def test_a_spoilt_name_is_refused_with_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "pages-host").write_text(text)

    with pytest.raises(BadInput, match="Remove it, and a new one is made"):
        files.pages_host(tmp_path)


# Pages and the cookie -----------------------------------------------------------------------------


def test_a_stranger_on_a_page_is_shown_the_way_in(fresh: Served) -> None:
    page = _get(fresh, "/new?a=1&b=2")
    part = _get(fresh, "/new", HX_Request="true")

    assert (page.status_code, page.headers["location"]) == (
        303,
        "/sign-in?next=/new%3Fa%3D1%26b%3D2",
    )
    assert part.status_code == 401
    assert part.headers["hx-redirect"] == "/sign-in"
    assert _post(fresh, "/new", "text=Obey").status_code == 401


def test_a_page_lets_in_no_script_but_ours(fresh: Served) -> None:
    page = _get(fresh, "/sign-in")
    told = page.headers["content-security-policy"]

    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in told
    assert "unsafe" not in told
    assert "form-action 'self'; base-uri 'none'; frame-ancestors 'none'" in told
    assert page.headers["referrer-policy"] == "same-origin"  # else forms hide where they come from
    assert page.headers["cache-control"] == "no-store"


def test_a_cookie_changes_something_only_from_our_own_page(fresh: Served) -> None:
    cookie, ours = _cookie(_get(fresh, _link(fresh))), fresh.pages
    seen = {}
    for origin in (None, "null", "http://evil.test", "http://127.0.0.1:1", fresh.url, ours):
        headers = {"Cookie": cookie} | ({"Origin": origin} if origin else {})
        fresh.client.cookies.clear()
        answer = fresh.client.post(fresh.pages + "/api/tasks", json={"text": "Go"}, headers=headers)
        seen[origin] = answer.status_code

    assert seen.pop(ours) == 201
    assert set(seen.values()) == {403}


def test_two_cookies_and_a_broken_one_open_nothing(fresh: Served) -> None:
    cookie = _cookie(_get(fresh, _link(fresh)))

    assert _get(fresh, "/api/tasks", f'junk="{{a,b}}; x; {cookie}').status_code == 200
    assert _get(fresh, "/api/tasks", f"{cookie}; {cookie}").status_code == 401
    assert _get(fresh, "/api/tasks", f"{cookie}x").status_code == 401
    assert _get(fresh, "/api/tasks", cookie, Authorization="Bearer wrong").status_code == 401


def test_who_signs_out_is_out(fresh: Served) -> None:
    cookie = _cookie(_get(fresh, _link(fresh)))
    other = _cookie(_get(fresh, _link(fresh)))
    forged = _post(fresh, "/sign-out", cookie=cookie)
    left = _post(fresh, "/sign-out", cookie=cookie, Origin=fresh.pages)

    assert forged.status_code == 403
    assert (left.status_code, left.headers["location"]) == (303, "/sign-in")
    assert "Max-Age=0" in left.headers["set-cookie"]
    assert _get(fresh, "/api/tasks", cookie).status_code == 401
    assert _get(fresh, "/api/tasks", other).status_code == 200


def test_a_browser_is_signed_out_from_elsewhere(fresh: Served) -> None:
    cookie = _cookie(_get(fresh, _link(fresh)))
    mine = _get(fresh, "/api/sign-ins", cookie).json()["signIns"]
    (listed,) = fresh.ask("GET", "/api/sign-ins").json()["signIns"]
    gone = fresh.ask("DELETE", f"/api/sign-ins/{listed['id']}")

    assert [each["here"] for each in mine] == [True]
    assert listed["here"] is False
    assert gone.status_code == 200
    assert _get(fresh, "/api/tasks", cookie).status_code == 401
    assert fresh.ask("GET", "/api/sign-ins").json() == {"signIns": []}
    assert fresh.ask("DELETE", f"/api/sign-ins/{listed['id']}").status_code == 404
