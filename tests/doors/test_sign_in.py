"""The owner's browser: a link that opens once, a cookie nobody else can use, and the way out."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from tests.doors.served import TOKEN, Served

FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path) as opened:
        yield opened


def _link(served: Served) -> str:
    return str(served.post("/api/sign-ins")["path"])


def _get(served: Served, path: str, cookie: str = "", **headers: str) -> httpx2.Response:
    sent = {"Cookie": cookie} if cookie else {}
    served.client.cookies.clear()
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return served.client.get(served.url + path, headers=sent | more)


def _post(
    served: Served, path: str, form: str = "", cookie: str = "", **headers: str
) -> httpx2.Response:
    sent = {"Content-Type": FORM} | ({"Cookie": cookie} if cookie else {})
    served.client.cookies.clear()
    return served.client.post(served.url + path, content=form, headers=sent | headers)


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


def test_wrong_tokens_are_soon_not_heard_any_more(served: Served) -> None:
    wrong = [_post(served, "/sign-in", "token=wrong").status_code for _ in range(11)]
    right = _post(served, "/sign-in", f"token={TOKEN}")
    by_link = _get(served, _link(served))
    served.clock.advance(timedelta(minutes=1))
    later = _post(served, "/sign-in", f"token={TOKEN}")

    assert wrong == [401] * 10 + [429]
    assert right.status_code == 429
    assert right.headers["retry-after"] == "60"
    assert by_link.status_code == 303  # a stranger's wrong tries keep no owner out
    assert later.status_code == 303


def test_wrong_links_are_counted_too(served: Served) -> None:
    seen = [_get(served, "/sign-in?code=wrong").status_code for _ in range(11)]

    assert seen == [401] * 10 + [429]


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
    cookie, ours = _cookie(_get(served, _link(served))), served.url
    seen = {}
    for origin in (None, "null", "http://evil.test", "http://127.0.0.1:1", ours):
        headers = {"Cookie": cookie} | ({"Origin": origin} if origin else {})
        served.client.cookies.clear()
        answer = served.client.post(served.url + "/api/tasks", json={"text": "Go"}, headers=headers)
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
    left = _post(served, "/sign-out", cookie=cookie, Origin=served.url)

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
