"""The page of `podrace explore`: who may ask, what is answered, and the page itself in a browser."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from podrace.analysis.request.plan import Selection
from podrace.analysis.stored.replayed import replayed
from podrace.analysis.walk.opened import opened
from podrace.checker.core.exploration import Budget
from podrace.cli.walking.page_server import Answers, WalkServer
from podrace.cli.walking.page_server import page as the_page
from podrace.reports.stored import parse_trace
from tests.cli.helpers import TINY
from tests.reports.webdriver import Browser, browsing

HOSTILE = "<img src=x onerror=alert(1)>"


@contextmanager
def serving(name: str) -> Iterator[WalkServer]:
    answers = Answers(*opened(Selection((name,))), Budget(timeout=60), f"podrace explore {name}")
    with WalkServer(answers) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WalkServer]:
    file = tmp_path_factory.mktemp("page") / "tiny.yaml"
    file.write_text(TINY.replace("One pod, one node", HOSTILE), encoding="utf-8")
    with serving(str(file)) as found:
        yield found


def sent(
    server: WalkServer, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, str, Any]:
    """Code, text and headers of the answer. `Host_`: another header Host."""
    port = server.server_address[1]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest(method, path, skip_host=True)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.putheader("Host", given.pop("Host", f"127.0.0.1:{port}"))
    data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    if method == "POST":
        given = {"Content-Type": "application/json", "Content-Length": str(len(data)), **given}
    for name, value in given.items():
        connection.putheader(name, value)
    connection.endheaders(data)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers


def asked(server: WalkServer, do: str, walk: Any = None, **more: Any) -> Any:
    code, text, _ = sent(server, "POST", f"/{server.token}/ask", {"do": do, "walk": walk or {}, **more})
    assert code == (400 if "problem" in text else 200)
    return json.loads(text)


def test_the_page_allows_its_own_script_alone(server: WalkServer) -> None:
    code, text, headers = sent(server, "GET", f"/{server.token}/")
    assert code == 200
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert HOSTILE not in text
    assert "innerHTML" not in text
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert the_page(f"</title>{HOSTILE}")[0].decode().count("<img") == 0


@pytest.mark.parametrize(
    ("path", "headers", "code", "why"),
    [
        ("/wrong/ask", {}, 403, "the address has another token"),
        ("/ask", {}, 403, "the address has another token"),
        ("//ask", {}, 403, "the address has another token"),
        ("/{token}", {}, 403, "the address has another token"),
        ("/{token}/other", {}, 404, "there is no such page"),
        ("/{token}/ask", {"Host": "evil.example"}, 403, "the header Host is not this server's"),
        ("/{token}/ask", {"Host": "127.0.0.1:1"}, 403, "the header Host is not this server's"),
        ("/{token}/ask", {"Origin": "http://evil.example"}, 403, "a page of another origin asks"),
        ("/{token}/ask", {"Origin": "null"}, 403, "a page of another origin asks"),
        ("/{token}/ask", {"Origin": "http://localhost:{port}"}, 403, "a page of another origin asks"),
        ("/{token}/ask", {"Sec_Fetch_Site": "cross-site"}, 403, "a page of another site asks"),
        ("/{token}/ask", {"Content_Type": "text/plain"}, 415, "a question is JSON"),
        ("/{token}/ask", {"Content_Length": "9999999"}, 413, "this question is too long"),
    ],
)
def test_others_are_refused(
    server: WalkServer, path: str, headers: dict[str, str], code: int, why: str
) -> None:
    known = {"token": server.token, "port": server.server_address[1]}
    given = {name: value.format(**known) for name, value in headers.items()}
    assert sent(server, "POST", path.format(**known), {"do": "show"}, **given)[:2] == (code, f"{why}\n")


def test_a_page_of_its_own_origin_may_ask(server: WalkServer) -> None:
    port = server.server_address[1]
    for host in (f"127.0.0.1:{port}", f"localhost:{port}"):
        given = {"Host": host, "Origin": f"http://{host}", "Sec_Fetch_Site": "same-origin"}
        assert sent(server, "POST", f"/{server.token}/ask", {"do": "show"}, **given)[0] == 200
    assert sent(server, "POST", f"/{server.token}/ask", {"do": "show"}, Origin="https://x")[0] == 403
    assert server.server_address[0] == "127.0.0.1"
    assert sent(server, "PUT", f"/{server.token}/ask")[0] == 501


def test_questions_are_answered_about_the_walk_that_is_sent(server: WalkServer) -> None:
    """So two tabs have two walks."""
    start = asked(server, "show")["shown"]
    assert start["title"] == HOSTILE
    assert [one["call"] for one in start["choices"]] == ["scheduler.pop(p)"]
    first = asked(server, "take", number=start["choices"][0]["number"])["shown"]
    other = asked(server, "show")["shown"]
    assert (first["walk"]["at"], other["walk"]["at"]) == (1, 0)
    found = asked(server, "find", first["walk"], words="p bound to n")
    assert found["said"] == "API server: p on n: 5 steps from here, and no fewer (6 states searched)."
    walk = found["shown"]["walk"]
    assert asked(server, "jump", walk, number=2)["shown"]["walk"] == {**walk, "at": 2}
    trace = json.loads(asked(server, "save", walk)["trace"])
    assert (trace["format"], len(trace["steps"])) == ("podrace-trace", 6)
    line = asked(server, "line", walk)["line"]
    assert line.startswith("podrace explore ")
    along = asked(server, "go", words=line.partition("--walk ")[2].strip("'"))["shown"]["walk"]
    assert along["path"] == walk["path"]
    (danger,) = asked(server, "wrong", walk)["wrong"]
    assert (danger["property"], danger["there"]) == ("S-CAP", False)
    (barred,) = asked(server, "why", first["walk"], words="pop")["why"]
    assert barred["conditions"][0]["needed"] == "queue: p in activeQ"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"{", "this is no question of the page"),
        (b"[" * 100_000, "this is no question of the page"),
        ({"do": "fly"}, "this is no question of the page"),
        ({"do": "show", "walk": {"path": [10**6], "at": 0}}, "step 1: there is no step of number 1000000"),
        ({"do": "show", "walk": {"path": [], "at": 4}}, "there is no step 4: the walk has 0 steps"),
        ({"do": "show", "walk": {"branches": [[-1]]}}, "step 1: there is no step of number -1"),
        ({"do": "show", "walk": {"path": [0] * 10_001}}, "this walk is too long"),
        ({"do": "save"}, "the walk has no step yet: take one, then save it"),
    ],
)
def test_a_question_that_cannot_be_answered_is_told_in_one_line(
    server: WalkServer, body: Any, problem: str
) -> None:
    code, text, _ = sent(server, "POST", f"/{server.token}/ask", body)
    assert (code, json.loads(text)) == (400, {"problem": problem})


def settled(browser: Browser) -> dict[str, Any]:
    """The place that the page shows, once it has its answer."""
    for _ in range(2_000):
        if browser.run("return !busy && place !== null"):
            found: dict[str, Any] = browser.run("return place")
            return found
    raise AssertionError("the page got no answer")


def pressed(browser: Browser, key: str) -> dict[str, Any]:
    browser.run(
        "document.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}))", key
    )
    return settled(browser)


@pytest.mark.ci
def test_a_walk_by_clicks_and_keys(server: WalkServer, tmp_path: Path) -> None:
    with browsing(tmp_path) as browser:
        browser.command("POST", "/url", {"url": server.address})
        assert settled(browser)["walk"]["at"] == 0
        assert HOSTILE in browser.run("return at('title').textContent")
        assert browser.run("return document.images.length") == 0
        with serving("72124") as race:
            browser.command("POST", "/url", {"url": race.address})
            walked(browser)
        assert browser.log() == []


def walked(browser: Browser) -> None:
    """Thirty steps, a branch, a search, a reload, a saved walk, and a narrow page."""
    place = settled(browser)
    for at in range(1, 31):
        last = len(place["choices"])
        if at % 2:
            browser.click(f"#next button:nth-of-type({last})")
            place = settled(browser)
        else:
            place = pressed(browser, str(last))
        assert place["walk"]["at"] == at
    assert pressed(browser, "Home")["walk"]["at"] == 0
    assert pressed(browser, "ArrowRight")["walk"]["at"] == 1
    browser.run("at('words').value = 'S-NOMVIS'; at('search').requestSubmit()")
    place = settled(browser)
    assert (place["walk"]["at"], len(place["branches"])) == (15, 1)
    assert "S-NOMVIS is violated" in browser.run("return at('violated').textContent")
    assert browser.run("return document.querySelectorAll('.disputed').length") > 0
    trace = browser.run(
        "return fetch('ask', {method: 'POST', headers: {'Content-Type': 'application/json'}, "
        "body: JSON.stringify({do: 'save', walk: place.walk})}).then((answer) => answer.json())"
    )["trace"]
    assert replayed(parse_trace(trace, "walk.json")).violated
    browser.run("at('why').open = true")
    browser.click("#branches button")
    place = settled(browser)
    assert len(place["steps"]) == 30
    browser.command("POST", "/refresh")
    assert settled(browser)["walk"] == place["walk"]
    browser.resize(400, 800)
    assert browser.run("return document.documentElement.scrollWidth") == 400


CLICKS = 20
SLOWEST = 5.0
"""A click takes some tenths of a second; machines may be busy."""


@pytest.mark.ci
def test_two_tabs_have_two_walks_in_a_space_of_millions(tmp_path: Path) -> None:
    """72124 has 12,718,187 states."""
    with browsing(tmp_path) as browser, serving("72124") as race:
        browser.command("POST", "/url", {"url": race.address})
        place = settled(browser)
        took = []
        for _ in range(CLICKS):
            began = time.monotonic()
            browser.click("#next button")
            place = settled(browser)
            took.append(time.monotonic() - began)
        print(f"a click: {min(took):.2f} to {max(took):.2f} s")
        assert max(took) < SLOWEST
        (first,) = browser.command("GET", "/window/handles")
        other = browser.command("POST", "/window/new", {"type": "tab"})["handle"]
        browser.command("POST", "/window", {"handle": other})
        browser.command("POST", "/url", {"url": race.address})
        assert settled(browser)["walk"]["at"] == 0
        browser.click("#next button:nth-of-type(2)")
        there = settled(browser)
        browser.command("POST", "/window", {"handle": first})
        browser.command("POST", "/refresh")
        assert settled(browser)["walk"] == place["walk"]
        assert pressed(browser, "ArrowLeft")["walk"]["at"] == CLICKS - 1
        browser.command("POST", "/window", {"handle": other})
        browser.command("POST", "/refresh")
        assert settled(browser)["walk"] == there["walk"]


class _Other(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>another origin</title>")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.mark.ci
def test_a_page_of_another_origin_gets_no_answer_in_a_browser(tmp_path: Path) -> None:
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY, encoding="utf-8")
    with (
        browsing(tmp_path) as browser,
        serving(str(file)) as server,
        ThreadingHTTPServer(("127.0.0.1", 0), _Other) as other,
    ):
        thread = threading.Thread(target=other.serve_forever, args=(0.01,))
        thread.start()
        answered: list[bytes] = []
        answer = server.answers.answer
        server.answers.answer = lambda body: answered.append(body) or answer(body)  # type: ignore[method-assign,func-returns-value]
        script = (
            "return fetch(arguments[0] + 'ask', {method: 'POST', mode: arguments[1], body: JSON.stringify({do: 'show'}), "
            "headers: arguments[2]}).then((found) => found.text(), () => 'refused')"
        )
        tries = [("cors", {"Content-Type": "application/json"}), ("no-cors", {"Content-Type": "text/plain"})]
        try:
            browser.command("POST", "/url", {"url": f"http://127.0.0.1:{other.server_address[1]}/"})
            assert [browser.run(script, server.address, *one) for one in tries] == ["refused"] * 2
            assert answered == []
            browser.command("POST", "/url", {"url": server.address})
            settled(browser)
            assert "tiny" in browser.run(script, "", *tries[0])
            assert len(answered) == 2
        finally:
            other.shutdown()
            thread.join()
