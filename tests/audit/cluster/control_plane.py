"""etcd and kube-apiserver on loopback, with an audit log; and a small client of the API."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

from .binaries import Binaries

LOOPBACK = "127.0.0.1"
SCHEDULER = "system:kube-scheduler"
TOKENS = {"admin": "system:masters", SCHEDULER: "system:authenticated"}
"""Users, each with its group; the token of a user is its name."""

_PATIENCE = 120.0
_PAUSE = Event()
_POLICY = Path(__file__).parents[3] / "audit" / "policy.yaml"

Object = dict[str, Any]


class ClusterProblem(Exception):
    """Something did not start, or did not come to pass in time: one line."""


@dataclass(frozen=True)
class ControlPlane:
    """A kube-apiserver that answers: its port, the certificate that it shows, and its audit log."""

    port: int
    certificate: Path
    log: Path
    idle: list[http.client.HTTPSConnection] = field(default_factory=list)

    def connection(self, source: str = LOOPBACK, timeout: float | None = 60) -> http.client.HTTPSConnection:
        """A connection to it, from an address of the loopback network."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        return http.client.HTTPSConnection(
            LOOPBACK, self.port, timeout=timeout, source_address=(source, 0), context=context
        )

    def ask(
        self,
        method: str,
        path: str,
        body: Object | None = None,
        user: str = "admin",
        form: str = "application/json",
    ) -> Object:
        """What a request of a user is answered. Raises ClusterProblem unless that is a success."""
        connection = self.idle.pop() if self.idle else self.connection()
        headers = {"Authorization": f"Bearer {user}", "Content-Type": form, "User-Agent": "kubectl"}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
        except BaseException:
            connection.close()
            raise
        self.idle.append(connection)
        if answer.status >= 300:
            raise ClusterProblem(
                f"{method} {path} was answered {answer.status}: {' '.join(text.split())[:300]}"
            )
        found = json.loads(text) if text.startswith("{") else {}
        assert isinstance(found, dict)
        return found


def until(condition: Any, what: str, patience: float = _PATIENCE) -> Any:
    """Wait until a condition gives something true, and return that. Raises ClusterProblem."""
    end = monotonic() + patience
    while monotonic() < end:
        found = condition()
        if found:
            return found
        _PAUSE.wait(0.02)
    raise ClusterProblem(f"waited {patience:.0f} s in vain until {what}")


def free_port() -> int:
    """A port of loopback on which nobody listens."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(program: Path, arguments: Mapping[str, str], said: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program with its flags, until the end of the block; what it says goes to a file."""
    flags = [f"--{name}={value}" for name, value in arguments.items()]
    with said.open("ab") as out:
        process = subprocess.Popen(
            [program, *flags], stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=said.parent
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def control_plane(
    binaries: Binaries, folder: Path, more: Mapping[str, str] | None = None
) -> Iterator[ControlPlane]:
    """A new cluster without nodes, whose files are in `folder`; it answers. `more` flags of kube-apiserver. Raises ClusterProblem."""
    with ExitStack() as stack:
        client, peer, secure = free_port(), free_port(), free_port()
        etcd = f"http://{LOOPBACK}:{client}"
        stack.enter_context(
            running(
                binaries.etcd,
                {
                    "data-dir": str(folder / "etcd"),
                    "listen-client-urls": etcd,
                    "advertise-client-urls": etcd,
                    "listen-peer-urls": f"http://{LOOPBACK}:{peer}",
                    "initial-advertise-peer-urls": f"http://{LOOPBACK}:{peer}",
                    "initial-cluster": f"default=http://{LOOPBACK}:{peer}",
                    "unsafe-no-fsync": "true",
                },
                folder / "etcd.txt",
            )
        )
        stack.callback(shutil.rmtree, folder / "etcd", ignore_errors=True)
        plane = ControlPlane(secure, folder / "certificates" / "apiserver.crt", folder / "audit.log")
        server = stack.enter_context(
            running(
                binaries.server, {**_server_flags(plane, etcd, folder), **(more or {})}, folder / "server.txt"
            )
        )

        def ready() -> bool:
            if server.poll() is not None:
                raise ClusterProblem(f"kube-apiserver ended: see {folder / 'server.txt'}")
            try:
                plane.ask("GET", "/readyz")
                plane.ask("GET", "/api/v1/namespaces/default")
                plane.ask("GET", "/api/v1/namespaces/kube-system")
            except (OSError, ClusterProblem):
                return False
            return True

        until(ready, "kube-apiserver answers")
        yield plane


def _server_flags(plane: ControlPlane, etcd: str, folder: Path) -> dict[str, str]:
    key, tokens = folder / "accounts.key", folder / "tokens.csv"
    openssl = shutil.which("openssl")
    if openssl is None:
        raise ClusterProblem("there is no openssl on this machine, which makes a key for kube-apiserver")
    subprocess.run([openssl, "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    tokens.write_text(
        "".join(f'{user},{user},{user},"{group}"\n' for user, group in TOKENS.items()), encoding="utf-8"
    )
    os.chmod(tokens, 0o600)
    return {
        "etcd-servers": etcd,
        "bind-address": LOOPBACK,
        "advertise-address": LOOPBACK,
        "endpoint-reconciler-type": "none",  # from 1.37 on no other has an address of loopback
        "secure-port": str(plane.port),
        "cert-dir": str(plane.certificate.parent),
        "service-cluster-ip-range": "10.0.0.0/24",
        "service-account-issuer": "https://podrace.invalid",
        "service-account-key-file": str(key),
        "service-account-signing-key-file": str(key),
        "token-auth-file": str(tokens),
        "authorization-mode": "AlwaysAllow",
        "disable-admission-plugins": "ServiceAccount,TaintNodesByCondition",
        "audit-policy-file": str(_POLICY),
        "audit-log-path": str(plane.log),
        "audit-log-mode": "blocking",
        "shutdown-delay-duration": "0s",
    }
