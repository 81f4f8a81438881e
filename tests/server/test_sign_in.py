"""The owner's browser: a link that opens once, a cookie nobody else can use, and the way out."""

import html
import re
import sqlite3
from collections.abc import Iterator
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


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path) as opened:
        yield opened


def _link(served: Served) -> str:
    link = str(served.post("/api/sign-ins")["url"])
    assert link.startswith(served.pages)
    return link.removeprefix(served.pages)


def _get(served: Served, path: str, cookie: str = "", **headers: str) -> httpx2.Response:
    sent = {"Cookie": cookie} if cookie else {}
    served.client.cookies.clear()
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return served.client.get(served.pages + path, headers=sent | more)


def _post(
    served: Served, path: str, form: str = "", cookie: str = "", **headers: str
) -> httpx2.Response:
    sent = {"Content-Type": FORM} | ({"Cookie": cookie} if cookie else {})
    served.client.cookies.clear()
    return served.client.post(served.pages + path, content=form, headers=sent | headers)


def _cookie(answer: httpx2.Response) -> str:
    assert answer.status_code == 303, answer.text
    return str(answer.headers["set-cookie"]).partition(";")[0]


# The link -----------------------------------------------------------------------------------------


def test_a_link_signs_in_once(served: Served) -> None:
    link = _link(served)
    first, second = _get(served, link), _get(served, link)

    assert (first.status_code, first.headers["location"]) == (303, "/")
    kept = str(first.headers["set-cookie"])
    assert re.fullmatch(
        r"remit-\d+=[\w-]{43}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000", kept
    )
    assert second.status_code == 401
    assert "set-cookie" not in second.headers
    assert "was used before" in second.text
    assert _get(served, "/api/tasks", _cookie(first)).status_code == 200
    assert _get(served, "/api/tasks").status_code == 401


def test_a_link_is_good_for_a_quarter_of_an_hour(served: Served) -> None:
    early, late = _link(served), _link(served)
    served.clock.advance(timedelta(minutes=15) - timedelta(seconds=1))
    before = _get(served, early)
    served.clock.advance(timedelta(seconds=1))

    assert (before.status_code, _get(served, late).status_code) == (303, 401)


def test_a_browser_stays_signed_in_for_thirty_days(served: Served) -> None:
    cookie = _cookie(_get(served, _link(served)))
    served.clock.advance(timedelta(days=30) - timedelta(seconds=1))
    before = _get(served, "/api/tasks", cookie).status_code
    served.clock.advance(timedelta(seconds=1))

    assert (before, _get(served, "/api/tasks", cookie).status_code) == (200, 401)


def test_neither_code_nor_cookie_is_kept_as_it_is(served: Served) -> None:
    used, unused = _link(served), _link(served)
    cookie = _cookie(_get(served, used)).partition("=")[2]
    with closing(sqlite3.connect(served.home / "agent.db")) as file:
        kept = "\n".join(file.iterdump())

    assert "sign_ins" in kept
    for secret in (used.partition("code=")[2], unused.partition("code=")[2], cookie):
        assert secret not in kept


# The token ----------------------------------------------------------------------------------------


def test_the_token_signs_in_too_and_goes_where_one_wanted_to_go(served: Served) -> None:
    asked = _get(served, "/sign-in?next=/tasks%3Fq%3Dx")
    entered = _post(served, "/sign-in", f"token={TOKEN}&next={quote('/tasks?q=x', safe='')}")

    assert asked.status_code == 200
    assert 'value="/tasks?q=x"' in asked.text
    assert entered.headers["location"] == "/tasks?q=x"
    assert _get(served, "/api/tasks", _cookie(entered)).status_code == 200
    assert _get(served, "/sign-in?next=/tasks", _cookie(entered)).headers["location"] == "/tasks"


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
def test_nobody_is_sent_to_another_place(served: Served, elsewhere: str) -> None:
    told = quote(elsewhere, safe="")
    by_link = _get(served, f"{_link(served)}&next={told}")
    by_token = _post(served, "/sign-in", f"token={TOKEN}&next={told}")

    assert [by_link.headers["location"], by_token.headers["location"]] == ["/", "/"]


def test_a_token_of_a_program_signs_nobody_in(served: Served) -> None:
    made = served.post("/api/tokens", {"name": "x", "scopes": ["read", "admin", "approve"]})

    assert _post(served, "/sign-in", f"token={made['secret']}").status_code == 401


def test_wrong_tokens_and_links_never_keep_the_owner_out(served: Served) -> None:
    wrong = [_post(served, "/sign-in", "token=wrong").status_code for _ in range(30)]
    by_site = [
        _get(served, "/sign-in?code=wrong", Sec_Fetch_Site="cross-site").status_code
        for _ in range(30)
    ]

    assert set(wrong + by_site) == {401}
    assert _post(served, "/sign-in", f"token={TOKEN}").status_code == 303
    assert _get(served, _link(served)).status_code == 303


# The name of the pages ----------------------------------------------------------------------------


def test_the_pages_have_a_random_name_that_stays(served: Served, tmp_path: Path) -> None:
    name = (served.home / "pages-host").read_text()

    assert re.fullmatch(r"remit-[0-9a-f]{20}\.localhost", name)
    assert (served.home / "pages-host").stat().st_mode & 0o777 == 0o600
    assert files.pages_host(served.home) == name
    assert files.pages_host(tmp_path / "another") != name


def test_a_cookie_counts_under_the_name_of_the_pages_alone(served: Served) -> None:
    cookie = _cookie(_get(served, _link(served)))
    seen = {
        host: _get(served, "/api/tasks", cookie, Host=f"{host}:{served.port}").status_code
        for host in ("127.0.0.1", "localhost", "[::1]", "remit-other.localhost")
    }

    assert _get(served, "/api/tasks", cookie).status_code == 200
    assert seen == {"127.0.0.1": 401, "localhost": 401, "[::1]": 401, "remit-other.localhost": 421}


def test_who_has_no_token_is_never_told_the_name_of_the_pages(served: Served) -> None:
    name = (served.home / "pages-host").read_text()
    for path in ("/", "/inbox", "/sign-in", "/sign-in?code=wrong", "/healthz", "/nowhere"):
        for headers in ({}, {"Accept": "text/html"}, {"HX-Request": "true"}):
            answer = served.client.get(served.url + path, headers=headers)
            assert name not in answer.text
            assert name not in str(answer.headers)
    wrong = served.client.post(
        f"{served.url}/sign-in", content="token=wrong", headers={"Content-Type": FORM}
    )
    assert wrong.status_code == 401
    assert name not in wrong.text


def test_the_token_given_at_127_0_0_1_leads_to_the_pages(served: Served) -> None:
    answer = served.client.post(
        f"{served.url}/sign-in",
        content=f"token={TOKEN}&next={quote('/tasks?q=x', safe='')}",
        headers={"Content-Type": FORM, "Origin": served.url},
    )
    link = html.unescape(re.findall(r'href="(http://remit[^"]+)"', answer.text)[0])
    arrived = _get(served, link.removeprefix(served.pages), Sec_Fetch_Site="cross-site")

    assert "set-cookie" not in answer.headers
    assert link.startswith(f"{served.pages}/sign-in?code=")
    # A browser that came from another site sends a strict cookie only once our own page asks.
    assert arrived.status_code == 200
    assert 'content="0; url=/tasks?q=x"' in arrived.text
    cookie = str(arrived.headers["set-cookie"]).partition(";")[0]
    assert _get(served, "/api/tasks", cookie).status_code == 200


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


def test_a_stranger_on_a_page_is_shown_the_way_in(served: Served) -> None:
    page = _get(served, "/new?a=1&b=2")
    part = _get(served, "/new", HX_Request="true")

    assert (page.status_code, page.headers["location"]) == (
        303,
        "/sign-in?next=/new%3Fa%3D1%26b%3D2",
    )
    assert part.status_code == 401
    assert part.headers["hx-redirect"] == "/sign-in"
    assert _post(served, "/new", "text=Obey").status_code == 401


def test_a_page_lets_in_no_script_but_ours(served: Served) -> None:
    page = _get(served, "/sign-in")
    told = page.headers["content-security-policy"]

    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in told
    assert "unsafe" not in told
    assert "form-action 'self'; base-uri 'none'; frame-ancestors 'none'" in told
    assert page.headers["referrer-policy"] == "same-origin"  # else forms hide where they come from
    assert page.headers["cache-control"] == "no-store"


def test_a_cookie_changes_something_only_from_our_own_page(served: Served) -> None:
    cookie, ours = _cookie(_get(served, _link(served))), served.pages
    seen = {}
    for origin in (None, "null", "http://evil.test", "http://127.0.0.1:1", served.url, ours):
        headers = {"Cookie": cookie} | ({"Origin": origin} if origin else {})
        served.client.cookies.clear()
        answer = served.client.post(
            served.pages + "/api/tasks", json={"text": "Go"}, headers=headers
        )
        seen[origin] = answer.status_code

    assert seen.pop(ours) == 201
    assert set(seen.values()) == {403}


def test_two_cookies_and_a_broken_one_open_nothing(served: Served) -> None:
    cookie = _cookie(_get(served, _link(served)))

    assert _get(served, "/api/tasks", f'junk="{{a,b}}; x; {cookie}').status_code == 200
    assert _get(served, "/api/tasks", f"{cookie}; {cookie}").status_code == 401
    assert _get(served, "/api/tasks", f"{cookie}x").status_code == 401
    assert _get(served, "/api/tasks", cookie, Authorization="Bearer wrong").status_code == 401


def test_who_signs_out_is_out(served: Served) -> None:
    cookie = _cookie(_get(served, _link(served)))
    other = _cookie(_get(served, _link(served)))
    forged = _post(served, "/sign-out", cookie=cookie)
    left = _post(served, "/sign-out", cookie=cookie, Origin=served.pages)

    assert forged.status_code == 403
    assert (left.status_code, left.headers["location"]) == (303, "/sign-in")
    assert "Max-Age=0" in left.headers["set-cookie"]
    assert _get(served, "/api/tasks", cookie).status_code == 401
    assert _get(served, "/api/tasks", other).status_code == 200


def test_a_browser_is_signed_out_from_elsewhere(served: Served) -> None:
    cookie = _cookie(_get(served, _link(served)))
    mine = _get(served, "/api/sign-ins", cookie).json()["signIns"]
    (listed,) = served.ask("GET", "/api/sign-ins").json()["signIns"]
    gone = served.ask("DELETE", f"/api/sign-ins/{listed['id']}")

    assert [each["here"] for each in mine] == [True]
    assert listed["here"] is False
    assert gone.status_code == 200
    assert _get(served, "/api/tasks", cookie).status_code == 401
    assert served.ask("GET", "/api/sign-ins").json() == {"signIns": []}
    assert served.ask("DELETE", f"/api/sign-ins/{listed['id']}").status_code == 404
