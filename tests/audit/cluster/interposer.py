"""What stands between a scheduler and the API server: it passes everything on, and can hold a watch or lose a reply."""

from __future__ import annotations

import contextlib
import http.client
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from urllib.parse import parse_qs, urlsplit

from .control_plane import LOOPBACK, SCHEDULER, ControlPlane

_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "host", "content-length"})
"""Headers that are about one connection."""

Before = Callable[[str, str], None]
"""Called with method and path before a request is passed on."""

After = Callable[[str, str], bool]
"""Called with method and path when a request was answered, before that is passed on. If it says False, the reply is lost."""


@dataclass
class Interposer:
    """One scheduler's way to the API server, from an address of its own."""

    plane: ControlPlane
    source: str
    before: Before = lambda method, path: None
    after: After = lambda method, path: True
    pods_flow: Event = field(default_factory=Event)
    """While this is not set, nothing of a watch of pods is passed on."""

    watches_pods: bool = False
    """Whether a watch of pods has begun."""

    port: int = 0

    def hold_pods(self) -> None:
        """From now on events of pods wait here, in their order."""
        self.pods_flow.clear()

    def release_pods(self) -> None:
        """Pass on what waits, and what comes."""
        self.pods_flow.set()


@contextmanager
def interposed(plane: ControlPlane, source: str) -> Iterator[Interposer]:
    """An interposer that answers on a port of its own, until the end of the block."""
    interposer = Interposer(plane, source)
    interposer.release_pods()

    class Handler(_Handler):
        way = interposer

    server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
    server.daemon_threads = True
    interposer.port = int(server.server_address[1])
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield interposer
    finally:
        interposer.release_pods()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    way: Interposer
    upstream: http.client.HTTPSConnection | None = None
    """To the API server, as long as the scheduler keeps its own connection; a watch has one for itself."""

    def do(self) -> None:
        """Pass a request on, and its answer back."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.way.before(self.command, self.path)
        headers = {k: v for k, v in self.headers.items() if k.lower() not in _HOP}
        headers["Authorization"] = f"Bearer {SCHEDULER}"  # client-go sends no token where there is no TLS
        watches = _watched(self.path) is not None
        if watches or self.upstream is None:
            connection = self.way.plane.connection(self.way.source, None)
        else:
            connection = self.upstream
        self.upstream = None
        try:
            connection.request(self.command, self.path, body or None, headers)
            answer = connection.getresponse()
            if not self.way.after(self.command, self.path):
                self.close_connection = True
                return
            with contextlib.suppress(OSError, http.client.HTTPException):
                self._pass_back(answer)
                if not watches and answer.isclosed():
                    self.upstream = connection
        except (OSError, http.client.HTTPException):
            self.close_connection = True
        finally:
            if self.upstream is not connection:
                connection.close()

    def handle(self) -> None:
        """Requests, until the scheduler's end of the connection is gone, as when it is killed."""
        with contextlib.suppress(ConnectionError):
            super().handle()

    def finish(self) -> None:
        """The scheduler closed its connection."""
        if self.upstream is not None:
            self.upstream.close()
        with contextlib.suppress(ConnectionError):
            super().finish()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do

    def _pass_back(self, answer: http.client.HTTPResponse) -> None:
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _HOP:
                self.send_header(name, value)
        watched = _watched(self.path)
        if watched is None:
            text = answer.read()
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.way.watches_pods |= watched == "pods"
        while piece := answer.read1(1 << 16):
            if watched == "pods":
                self.way.pods_flow.wait()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _watched(path: str) -> str | None:
    """The resource that a request watches; None if it watches none."""
    parts = urlsplit(path)
    watch = parse_qs(parts.query).get("watch", ["false"])[0]
    return parts.path.rsplit("/", 1)[-1] if watch in ("true", "1") else None
