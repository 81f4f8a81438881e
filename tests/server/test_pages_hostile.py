"""The pages under attack, over HTTP: hostile words, forged forms, doors that must not move."""

import html
import logging
import re
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.brain.scripted import parse
from remit.model.codec import Json, JsonMap
from remit.server.routes import UNSAFE, Route
from remit.settings import ServerSettings, Settings
from remit.store import meta
from tests.server.besieged import Besieged, named, rows
from tests.server.corpus import HOSTILE, MARK
from tests.server.served import FORM, TOKEN, Loopback, Served, problem
from tests.soak import SOAK, examples

ELSEWHERE: Final = ("http://evil.test", "null", "http://127.0.0.1:1", "https://127.0.0.1", "")
# Attributes whose value a browser follows or fetches.
LEADS: Final = frozenset({"href", "src", "action", "formaction", "srcset", "data", "poster"})
FORBIDDEN: Final = frozenset({"iframe", "object", "embed", "base", "style", "math", "marquee"})


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Besieged]:
    with Besieged(tmp_path_factory.mktemp("hostile")) as opened_:
        opened_.furnish()
        yield opened_


class Looked(HTMLParser):
    """A page as a browser reads it: every tag, and what would run or lead elsewhere."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []
        self.text: list[str] = []
        self.tags = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags += 1
        given_ = dict(attrs)
        if tag in FORBIDDEN or (tag == "script" and "src" not in given_):
            self.wrong.append(f"<{tag}>")
        if tag in ("script", "img", "link") and not _is_ours(given_):
            self.wrong.append(f"<{tag}> from {given_}")
        for name, value in attrs:
            if name.startswith("on") or name in ("style", "srcdoc"):
                self.wrong.append(f"<{tag} {name}={value}>")
            if name in LEADS and re.match(
                r"[\s\x00-\x1f]*(javascript|data|vbscript):", value or ""
            ):
                self.wrong.append(f"<{tag} {name}={value}>")
            if name in ("action", "formaction") and not (value or "/").startswith("/"):
                self.wrong.append(f"<{tag} {name}={value}>")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def _is_ours(found: dict[str, str | None]) -> bool:
    return (found.get("src") or found.get("href") or "").startswith("/static/")


def _look(page: httpx2.Response) -> Looked:
    looked = Looked()
    looked.feed(page.text)
    return looked


# Hostile words ------------------------------------------------------------------------------------


def _settled(tmp_path: Path, text: str) -> Served:
    """An app whose brain, contact book and owner all say the same hostile thing."""
    script: list[Json] = [
        {"when": "asks", "ask": text},
        {"reply": f"{text}\n<deliverable>{text}</deliverable>"},
    ]
    line = " ".join(text.split())
    (tmp_path / "contacts.yaml").write_text(f"- name: {_yaml(line)}\n  role: {_yaml(line)}\n")
    return Served(tmp_path, works=True, brain=parse(script))


def _yaml(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, list[str]]]:
    """One app in which everybody says everything hostile, and its addresses.

    `make test` looks at each address with some texts, and for each text at some addresses.
    """
    everything = "\n\n".join(HOSTILE[:-1])  # the last one is only long
    with _settled(tmp_path_factory.mktemp("said"), everything) as served:
        paths = ["/inbox", "/inbox/list", "/tasks", "/tasks/stats", "/schedule", "/conversations"]
        paths += ["/new", "/agent", *(f"/settings/{each}" for each in ("contacts", "tokens"))]
        for turn, text in enumerate(HOSTILE):
            found = _say(served, text)
            paths += found if SOAK else found[turn % 5 :: 5]
        served.settle()
        yield served, paths


def _say(served: Served, text: str) -> list[str]:
    """Say it wherever something can be said; return the addresses that show it."""
    line = " ".join(text.split())[:200]
    body: JsonMap = {"title": line, "instructions": text, "work": [text]}
    task = str(served.post("/api/tasks", body)["id"])
    asks = str(served.post("/api/tasks", {**body, "title": f"asks {line}"})["id"])
    name = re.sub(r"[^\x20-\x7e]", "", line)[:60].strip()
    served.ask("POST", "/api/views", {"name": name or "x", "filter": text[:200]})
    served.ask("POST", "/api/tokens", {"name": name, "scopes": ["read"]})
    talk = served.post("/api/conversations", {"title": line[:100]})["id"]
    served.post(f"/api/conversations/{talk}/turns", {"text": text})
    return [
        *(f"/tasks/{task}{part}" for part in ("", "/log", "/delete")),
        *(f"/inbox/{task}", f"/tasks/{asks}", f"/inbox/{asks}", f"/tasks/rows?ids={task},{asks}"),
        *(f"/conversations/{talk}", f"/conversations/{talk}/turns"),
        *(f"/tasks?q={quote(text)}", f"/tasks?q={quote('status:' + text)}"),
        *(f"/tasks?{quote(line)}=1", f"/tasks/{quote(line[:60], safe='')}"),
        *(f"/conversations/{quote(line[:60], safe='')}", f"/inbox?done={quote(line)}"),
        *(f"/sign-in?next={quote(line)}", f"/settings/{quote(line[:40], safe='')}"),
        *(f"/schedule?span={quote(line)}", f"/schedule?on={quote(line)}"),
        *(f"/tasks/{task}?find={quote(line)}", f"/sign-in?code={quote(line)}"),
    ]


def test_nothing_that_anybody_says_is_more_than_text(said: tuple[Served, list[str]]) -> None:
    served, paths = said
    seen = 0
    for path in paths:
        page = served.look(path)
        assert page.status_code < 500, (path, page.text[:300])
        if page.headers["content-type"].startswith("text/html"):
            looked = _look(page)
            assert looked.wrong == [], path
            seen += MARK in "".join(looked.text)
        else:
            assert page.status_code in (303, 404), path

    assert seen > len(HOSTILE)  # it was there to be read


def test_what_a_template_would_compute_stays_as_it_was_written(
    said: tuple[Served, list[str]],
) -> None:
    served, _ = said
    page = served.look("/tasks?q=" + quote("{{ 7*191 }}"))

    assert "1337" not in page.text
    assert "{{ 7*191 }}" in html.unescape(page.text)


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=60))
def test_whatever_is_searched_for_is_echoed_as_text(still: Served, text: str) -> None:
    wanted = f"<x {text}><script>pwned</script>"
    page = still.look("/tasks?q=" + quote(wanted, safe=""))
    looked = _look(page)

    assert page.status_code in (200, 422)
    assert looked.wrong == []
    assert "<script>pwned" not in page.text


@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.sampled_from(HOSTILE),
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20),
)
def test_what_is_wrong_is_said_without_doing_it(still: Served, hostile: str, more: str) -> None:
    for path in ("/tasks/bulk", "/new", "/settings/tokens", "/sign-in", "/tasks/views"):
        page = still.submit(path, {hostile[:80] + more: more})
        assert page.status_code in (400, 422, 429), (path, page.status_code)
        assert _look(page).wrong == []


# Forms --------------------------------------------------------------------------------------------


def _unsafe() -> list[Route]:
    return [each for each in rows(page=True) if each.method in UNSAFE]


@pytest.mark.parametrize("origin", ELSEWHERE)
def test_no_other_site_s_form_does_anything(app: Besieged, origin: str) -> None:
    cookie, before = app.cookie(), app.kept()
    for route in _unsafe():
        headers = {"Cookie": cookie} | ({"Origin": origin} if origin else {})
        answer = app.send(route, headers)
        assert problem(answer) == (403, "cross-site"), named(route)
        sly = app.send(route, {"Cookie": cookie, "Origin": app.url, "Sec-Fetch-Site": "same-site"})
        assert sly.status_code == 403, named(route)

    assert app.kept() == before


def test_a_form_that_is_too_large_or_unreadable_or_says_too_much_changes_nothing(
    app: Besieged,
) -> None:
    # A section that is shown again with what is wrong counts as activity on the page.
    app.write(meta.note, app.clock.now())
    cookie, before = {"Cookie": app.cookie(), "Origin": app.url}, app.kept()
    cases = {b"colour=red": 422, b"x" * (1024 * 1024 + 1): 413, b"%ff%fe=%ff": 400, b"a&b": 400}
    for route in _unsafe():
        if route.path in ("/sign-in", "/sign-out"):
            continue
        for form, status in cases.items():
            answer = app.send(route, cookie, form)
            assert answer.status_code == status, (named(route), form[:20], answer.text[-400:])
            assert answer.headers["content-type"].startswith("text/html")
            assert "Remit" in answer.text
        said, wrong = app.said(route), "There is no field &#39;colour&#39;"
        if route.path.startswith(("/settings/edit", "/welcome/test")):
            said = {"section": "budget"}
        if route.path == "/settings/edit":  # its fields are those of the section
            wrong = "has no setting &#39;colour&#39;"
        more = urlencode({**said, "colour": "red"}).encode()
        assert wrong in app.send(route, cookie, more).text

    assert app.kept() == before


def test_looking_changes_nothing(app: Besieged) -> None:
    cookie = {"Cookie": app.cookie()}
    app.send(rows("GET")[0], cookie)
    app.look("/tasks")
    before, seen = app.kept(), 0
    for route in rows("GET"):
        if route.path.startswith(("/hooks/", "/feed/", "/sign-in")):
            continue
        for more in ({}, {"HX-Request": "true"}):
            answer = app.send(route, {**cookie, **more})
            assert answer.status_code < 500, named(route)
            seen += answer.is_success
            twin = app.client.head(app.url + app.place(route), headers={**cookie, **more})
            assert twin.status_code == answer.status_code, named(route)

    assert seen > 80
    assert app.kept() == before


def test_a_decision_that_is_sent_ten_times_is_made_once(app: Besieged) -> None:
    task = app.add("Renew my passport")
    app.settle()
    review, cookie = app.review_of(task), app.cookie()
    page = app.client.get(f"{app.url}/inbox/{review}", headers={"Cookie": cookie}).text
    found = re.search(r'name="digest" value="(\w+)"', page)
    assert found is not None
    form = urlencode({"answer": "answer", "text": "The blue one", "digest": found[1]})
    sent = {"Cookie": cookie, "Origin": app.url, "Content-Type": FORM}
    ten = httpx2.Client(
        timeout=100, trust_env=False, transport=Loopback(trust_env=False, verify=False)
    )
    with ThreadPoolExecutor(10) as pool, ten as client:
        path = f"{app.url}/inbox/{review}"
        tries = [pool.submit(client.post, path, content=form, headers=sent) for _ in range(10)]
        answers = sorted(each.result().status_code for each in tries)
    app.settle()
    log = app.get(f"/api/tasks/{task}/log?limit=1000")["log"]

    assert answers == [303] + [409] * 9
    assert str(log).count("The blue one") == 1
    assert app.stored(task).notes == ("The blue one",)


def test_a_form_with_a_key_is_done_once_and_its_page_stays_a_page(app: Besieged) -> None:
    sent = {"Cookie": app.cookie(), "Origin": app.url, "Idempotency-Key": "form-1"}
    (route,) = [each for each in rows("POST") if each.path == "/new"]
    first = app.send(route, sent)
    done = app.last()
    again = app.send(route, sent)

    assert first.status_code == again.status_code == 200
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.headers["content-type"] == first.headers["content-type"]
    assert again.text == first.text
    assert app.last() == done


def test_the_secret_of_a_token_is_on_one_page_and_kept_nowhere(app: Besieged) -> None:
    sent = {"Cookie": app.cookie(), "Origin": app.url, "Idempotency-Key": "form-2"}
    (route,) = [each for each in rows("POST") if each.path == "/settings/tokens"]
    made = app.send(route, sent)
    found = re.search(r"remit_[\w-]{43}", made.text)

    assert found is not None
    with closing(sqlite3.connect(app.home / "agent.db")) as file:
        assert found[0] not in "\n".join(file.iterdump())
    assert not re.search(r"remit_[\w-]{43}", app.send(route, sent).text)


# The door -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "after", ["/tasks?q=日本", "/conversations/Ünï", "/tasks?q=a b#c", "/x\u2028y"]
)
def test_one_goes_where_one_wanted_to_go_in_any_script(app: Besieged, after: str) -> None:
    app.client.cookies.clear()
    link = str(app.post("/api/sign-ins")["url"])
    answer = app.client.get(f"{link}&next={quote(after, safe='')}")
    app.client.cookies.clear()

    assert answer.status_code == 303
    where = answer.headers["location"]
    assert where.isascii()
    assert where == "/" or where == quote(after, safe="/?=#")


def test_no_page_is_kept_by_a_browser_or_tells_another_site_where_it_was(app: Besieged) -> None:
    cookie = {"Cookie": app.cookie()}
    for route in rows("GET", page=True):
        if route.path.startswith("/feed/"):
            continue
        answer = app.send(route, cookie)
        assert answer.headers["cache-control"] == "no-store", named(route)
        assert answer.headers["referrer-policy"] in ("same-origin", "no-referrer"), named(route)
        assert answer.headers["x-frame-options"] == "DENY"
        assert "unsafe" not in answer.headers["content-security-policy"]


def test_two_apps_of_one_machine_sign_nobody_out(app: Besieged, tmp_path: Path) -> None:
    """Not even if both are at 127.0.0.1, where a browser sends each the cookies of both."""
    plain = Settings(home=tmp_path, server=ServerSettings(own_name=False))
    with Served(tmp_path, settings=plain) as other:
        jar = httpx2.Client(
            timeout=100, trust_env=False, transport=Loopback(trust_env=False, verify=False)
        )
        for each in (app, other):
            assert jar.get(str(each.post("/api/sign-ins")["url"])).status_code == 303
        seen = [jar.get(each.pages + "/api/tasks").status_code for each in (app, other)]
        jar.close()

    assert seen == [200, 200]


class _Kept(logging.Handler):
    """All that anything but the tests' own client says, however quietly."""

    def __init__(self) -> None:
        super().__init__(0)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if not record.name.startswith("http"):
            self.said.append(self.format(record))


def test_no_secret_is_written_to_a_log(
    app: Besieged, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    root, kept = logging.getLogger(), _Kept()
    monkeypatch.setattr(root, "handlers", [kept])
    monkeypatch.setattr(root, "level", 1)
    app.client.cookies.clear()
    link = str(app.post("/api/sign-ins")["url"]).removeprefix(app.url)
    for path in (link, link, f"/api/tasks?token={TOKEN}", f"/sign-in?code={TOKEN}"):
        app.client.get(app.url + path)
        app.client.cookies.clear()
    logging.getLogger("remit.server").debug("heard")
    told = "\n".join([*kept.said, *capfd.readouterr()])

    assert "heard" in told
    assert TOKEN not in told
    assert link.partition("code=")[2] not in told


@pytest.mark.parametrize("place", ["/settings/channels?test={}", "/settings/channels/test/{}"])
def test_a_task_that_goes_nowhere_is_no_test_of_a_channel(app: Besieged, place: str) -> None:
    body: JsonMap = {"text": "Think about it", "delivery": []}
    made = app.ask("POST", "/api/tasks", body)
    assert made.status_code == 201, made.text
    headers = {"Cookie": app.cookie(), "Accept": "text/html"}
    answer = app.client.get(app.url + place.format(made.json()["id"]), headers=headers)

    assert answer.status_code == 404, answer.text
