"""Go: found, run, and its errors told in one line.

Only the ordinary client is used: where modules come from is for its own settings to say.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...base.problems import UsageProblem
from ...base.structs import Data

LEAST = (1, 26)
"""The oldest Go that builds the driver: testing/synctest, and what the newest kubernetes asks for."""

FLAGS = "-mod=mod -buildvcs=false"

_VERSION = re.compile(r"go([0-9]+)\.([0-9]+)(?:\.([0-9]+))?")
_INSTALL = f"install Go {LEAST[0]}.{LEAST[1]} or later, and have `go` on PATH"

_NETWORK = (
    "dial tcp", "no such host", "connection refused", "connection reset", "i/o timeout", "TLS handshake", "network is unreachable",
    "proxyconnect", "Client.Timeout", "context deadline exceeded", "temporary failure in name resolution", "502 Bad Gateway",
    "503 Service Unavailable", "module lookup disabled", "unexpected EOF", "x509:",
)  # fmt: skip
NEWER = re.compile(r"(\S+@\S+|go\.mod) requires go >= ([0-9.]+) \(running go ?([0-9.]+)")
"""What Go says of a module that needs a newer one; of a tree, that its go.mod does."""
_UNKNOWN = re.compile(r"unknown revision|no matching versions|invalid version|/@v/\S+: 4[0-9][0-9] ")


class GoProblem(UsageProblem):
    """Go is missing, too old, or cannot do what it was asked: one line with the remedy."""


class UnknownVersion(GoProblem):
    """A version of a module that is not to be had."""


class BuildProblem(GoProblem):
    """What was to be built does not compile; `text` is all that the compiler said."""

    def __init__(self, line: str, text: str) -> None:
        super().__init__(line)
        self.text = text


class Go(Data):
    """A Go that is new enough: the program, and its version such as go1.26.8."""

    program: str
    version: str

    @property
    def language(self) -> str:
        """Its language version, such as 1.26."""
        return ".".join(self.version.removeprefix("go").split(".")[:2])

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment that it runs in."""
        chosen = os.environ.get("GOTOOLCHAIN", "local")
        return {**os.environ, "GOFLAGS": FLAGS, "GOTOOLCHAIN": chosen, "GOWORK": "off", **(more or {})}

    def run(
        self,
        arguments: Sequence[str],
        folder: Path,
        more: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> str:
        """What it prints on stdout when it is run in a folder. Raises GoProblem."""
        done = self.tried(arguments, folder, more, timeout)
        if done.returncode:
            raise problem_of(done.stderr or done.stdout, arguments)
        return done.stdout

    def tried(
        self,
        arguments: Sequence[str],
        folder: Path,
        more: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """The same whatever becomes of it. Raises GoProblem if it cannot be started or takes too long."""
        try:
            return subprocess.run(
                [self.program, *arguments],
                cwd=folder,
                env=self.environment(more),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise GoProblem(
                f"`go {' '.join(arguments[:2])}` did not end within {timeout:.0f} s: is the network there?"
            ) from None
        except OSError as error:
            raise GoProblem(f"cannot run `{self.program}`: {error.strerror}: {_INSTALL}") from None


def find_go() -> Go:
    """The Go on PATH. Raises GoProblem if there is none, or if it is too old."""
    program = shutil.which("go")
    if program is None:
        raise GoProblem(f"there is no Go on this machine: {_INSTALL}")
    said = Go(program, "").tried(["env", "GOVERSION"], Path(), timeout=60)
    match = _VERSION.search(said.stdout)
    if said.returncode or match is None:
        raise GoProblem(f"`{program}` does not say which Go it is: {_INSTALL}")
    if (int(match[1]), int(match[2])) < LEAST:
        raise GoProblem(f"`{program}` is {match[0]}, which is too old: {_INSTALL}")
    return Go(program, match[0])


def has_go() -> bool:
    """Whether there is a Go that is new enough."""
    try:
        find_go()
    except GoProblem:
        return False
    return True


def problem_of(text: str, arguments: Sequence[str]) -> GoProblem:
    """What Go said about a failure, as one line."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    if (newer := NEWER.search(text)) is not None:
        return GoProblem(
            f"{newer[1]} needs Go {newer[2]} or later, and `go` is {newer[3]}: set the variable GOTOOLCHAIN=go{newer[2]}, and Go fetches it, or have a "
            "newer `go` on PATH"
        )
    # An unknown version is often told by way of the network: it is looked for first.
    if (line := next(filter(_UNKNOWN.search, lines), None)) is not None:
        return UnknownVersion(f"Go finds no such version: {_short(line)}")
    if (line := next((line for line in lines if any(mark in line for mark in _NETWORK)), None)) is not None:
        return GoProblem(
            f"Go cannot fetch modules: {_short(line)}: see to the network, or to GOPROXY and GONOSUMDB"
        )
    errors = [line for line in lines if not line.startswith(("#", "go: downloading"))]
    where = next((line for line in errors if re.match(r"\S+\.go:[0-9]+", line)), None)
    if where is not None:
        return BuildProblem(f"the driver does not compile: {_short(where)}", text)
    said = errors[-1] if errors else "it says nothing"
    return GoProblem(f"`go {' '.join(arguments[:2])}` failed: {_short(said)}")


def _short(line: str, most: int = 240) -> str:
    line = line.removeprefix("go: ")
    return line if len(line) <= most else f"{line[: most - 3]}..."
