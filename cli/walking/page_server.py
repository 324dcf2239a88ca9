"""A walk as a page on loopback, by the standard library's server: one person looks, and nothing is served but one page and its answers.

Whoever has the address may walk. It holds a secret, so no other user of the machine and no other page in the browser has it. The server answers on
127.0.0.1 alone; the headers Host and Origin must be its own, so a page of another origin can neither read nor ask, and no name that resolves to 127.0.0.1 helps it.
The walk is in the page, which sends it with each question: two tabs have two walks.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ...analysis.walk.explorer import Explorer
from ...analysis.walk.nearest import nearest, what_can_go_wrong
from ...analysis.walk.stored_walk import stored_walk
from ...analysis.walk.walk import MOST_BRANCHES, MOST_STEPS, Walk
from ...base.problems import Problem, UsageProblem
from ...reports.answers.walk_report import WalkTaken
from ...reports.filtered import shown, to_json
from ...reports.html.page import style_sheet
from ...reports.stored import format_trace
from .terminal_form import line_to_share

if TYPE_CHECKING:
    from ...analysis.own_systems import Budget

HOST = "127.0.0.1"
MOST_BYTES = 1 << 20
SECONDS = 30
"""A connection on which nothing comes for so long is closed."""

Do = Literal["show", "take", "jump", "branch", "go", "find", "reach", "wrong", "why", "save", "line"]


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a page asks: something to `do` to its walk."""

    do: Do
    walk: WalkTaken = WalkTaken()
    number: int = 0
    words: str = ""


class Answers:
    """Answers what pages ask, one after the other: expressions are built in one table."""

    def __init__(self, explorer: Explorer, walk: Walk, budget: Budget, command: str) -> None:
        self.explorer, self.walk, self.budget, self.command = explorer, walk, budget, command
        self._one_at_a_time = threading.Lock()

    def answer(self, body: bytes) -> dict[str, Any]:
        """The answer to a question in JSON. Raises Problem."""
        try:
            asked = msgspec.json.decode(body, type=Asked)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            raise UsageProblem("this is no question of the page") from None
        taken = asked.walk
        if len(taken.path) > MOST_STEPS or len(taken.branches) > MOST_BRANCHES or len(asked.words) > 100_000:
            raise UsageProblem("this walk is too long")
        with self._one_at_a_time:
            for path in taken.branches:
                self.explorer.state_after(path)
            return self._answer(asked, Walk(taken.path, 0, taken.branches).to(taken.at))

    def _answer(self, asked: Asked, walk: Walk) -> dict[str, Any]:
        explorer = self.explorer
        match asked.do:
            case "why":
                return {"why": explorer.barred(walk, asked.words)}
            case "wrong":
                found = what_can_go_wrong(explorer, walk, self.budget).items()
                return {
                    "wrong": [
                        {"property": p, "there": n.walk is not None, "words": n.words} for p, n in found
                    ]
                }
            case "save":
                return {"trace": format_trace(stored_walk(explorer, walk))}
            case "line":
                return {"line": line_to_share(explorer, walk, self.command)}
            case "find" | "reach":
                one = nearest(explorer, walk, asked.words, self.budget, asked.do == "find")
                return {"said": one.words, "shown": explorer.shown(one.walk or walk)}
            case "take":
                walk = walk.taking(asked.number)
            case "jump":
                walk = walk.to(asked.number)
            case "branch":
                walk = walk.onto(asked.number)
            case "go":
                walk = explorer.along(walk, asked.words)
            case "show":
                walk = walk if walk.path else self.walk
        return {"shown": explorer.shown(walk)}


class WalkServer(ThreadingHTTPServer):
    """Serves the page below a secret address. `answers` answers what it asks."""

    daemon_threads = True

    def __init__(self, answers: Answers, port: int = 0) -> None:
        super().__init__((HOST, port), _Handler)
        self.answers = answers
        self.token = secrets.token_urlsafe(24)
        self.hosts = tuple(f"{name}:{self.server_address[1]}" for name in (HOST, "localhost"))
        title = f"{answers.explorer.name}, {answers.explorer.release}"
        self.page, self.policy = page(title)

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{self.hosts[0]}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks concerns nobody else."""


def page(title: str) -> tuple[bytes, str]:
    """The page, and the policy that lets its own script and style alone be in force."""
    style, script = f"{style_sheet()}\n{_file('walk.css')}", _file("walk.js")
    text = Template(_file("walk.html")).substitute(style=style, script=script, title=_plain(title))
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    )
    return text.encode(), policy


def _plain(text: str) -> str:
    """Names of a scenario in the head of the page: letters that mean nothing there."""
    return "".join(c if c.isalnum() or c in " .,+-_" else "?" for c in shown(text))


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


class _Handler(BaseHTTPRequestHandler):
    """GET is the page, POST a question; everything else is refused."""

    server: WalkServer
    timeout = SECONDS
    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        if self._may(""):
            self._send(200, "text/html; charset=utf-8", self.server.page)

    def do_POST(self) -> None:
        if not self._may("ask"):
            return
        size = self.headers.get("Content-Length", "")
        if self.headers.get_content_type() != "application/json" or not size.isdecimal():
            self._refuse(415, "a question is JSON")
        elif int(size) > MOST_BYTES:
            self._refuse(413, "this question is too long")
        else:
            self._answer(self.rfile.read(int(size)))

    def _answer(self, body: bytes) -> None:
        try:
            found, code = self.server.answers.answer(body), 200
        except Problem as problem:
            found, code = {"problem": str(problem)}, 400
        self._send(code, "application/json; charset=utf-8", to_json(found, 0).encode())

    def _may(self, below: str) -> bool:
        """Whether the request is one of the page's own; else it is answered here."""
        token, slash, rest = self.path.removeprefix("/").partition("/")
        origin, site = self.headers.get("Origin"), self.headers.get("Sec-Fetch-Site")
        if self.headers.get_all("Host", []) not in [[host] for host in self.server.hosts]:
            self._refuse(403, "the header Host is not this server's")
        elif origin is not None and origin != f"http://{self.headers['Host']}":
            self._refuse(403, "a page of another origin asks")
        elif below and site not in (None, "same-origin"):
            self._refuse(403, "a page of another site asks")
        elif not slash or not hmac.compare_digest(token.encode(), self.server.token.encode()):
            self._refuse(403, "the address has another token")
        elif rest != below:
            self._refuse(404, "there is no such page")
        else:
            return True
        return False

    def _refuse(self, code: int, why: str) -> None:
        self._send(code, "text/plain; charset=utf-8", f"{why}\n".encode())

    def _send(self, code: int, kind: str, body: bytes) -> None:
        self.send_response(code)
        for name, value in {**self._headers(kind), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _headers(self, kind: str) -> Mapping[str, str]:
        return {
            "Content-Type": kind,
            "Content-Security-Policy": self.server.policy,
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cache-Control": "no-store",
        }

    def version_string(self) -> str:
        """Nothing of versions."""
        return "podrace"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the address is a secret."""
