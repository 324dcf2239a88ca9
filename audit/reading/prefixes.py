"""What those who pass lines on write before them: a container runtime, journald, syslog, `kubectl logs --prefix --timestamps`, stern, logcli.

A container runtime breaks long lines into pieces (P) of which the last (F) ends the line; audit events are long.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

ANY = "*"
"""The server of what a service collected without saying of which: any of several."""

_MOMENT = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)"
_TIME = rb"(?P<time>" + _MOMENT + rb")"
_LINE = rb"(?=\{|[IWEF]\d{4} )"
"""How an event and a line of klog begin."""

_PREFIXES = tuple(
    re.compile(form)
    for form in (
        rb"\[(?:pod/)?(?P<server>[^\]\s/]+)/[^\]\s]+\](?: (?=\t)|\s+)",
        _TIME + rb" (?:stdout|stderr) [FP] ",
        rb"(?:<\d{1,3}>)?(?:"
        + _TIME
        + rb"|[A-Z][a-z]{2} [ 0-3]\d \d\d:\d\d:\d\d(?:\.\d+)?) (?P<server>[\w.-]+) [\w.@/-]+(?:\[\d+\])?: ",
        rb"<\d{1,3}>1 " + _TIME + rb" (?P<server>\S+) \S+ \S+ \S+ (?:-|\[[^\]]*\]) ",
        _TIME + rb" (?=\t)",
        _TIME + rb" (?P<labels>\{(?:[\w.]+=\"(?:[^\"\\]|\\.)*\"(?:, ?)?)*\})\s+" + _LINE,
        _TIME + rb"\s+" + _LINE,
        rb"(?:[a-z0-9][a-z0-9-]* (?=\S+ (?:\xe2\x80\xba )?kube-))?(?P<server>[a-z0-9][a-z0-9.-]*) (?:\xe2\x80\xba )?[a-z0-9][a-z0-9.-]* (?=(?:"
        + _MOMENT
        + rb" )?(?:\{|[IWEF]\d{4} ))",
    )
)
_POD = re.compile(rb'[{ ,](?:pod|pod_name)="([^"]+)"')
_PIECE = re.compile(
    rb"(?P<whose>(?:\[[^\]\s]+\]\s+)?)" + _TIME + rb" (?P<stream>stdout|stderr) (?P<tag>[FP]) ?", re.DOTALL
)

_DOCKER = re.compile(rb'\{"log":"(?P<log>(?:[^"\\]|\\.)*)","stream":"(?P<stream>[a-z]+)"', re.DOTALL)
DOCKERS = 16_000
"""Docker breaks lines of more than 16 KiB, and an end of line is written only with the last piece."""

MOST_PREFIXES = 3
"""So many stand before a line; nobody has more."""


class Bare(NamedTuple):
    """A line without what stood before it; the server and the time that this named, empty if it did not."""

    text: bytes
    server: str
    time: str


def bare(text: bytes) -> Bare:
    """The line that a line of text holds."""
    server = time = ""
    for _ in range(MOST_PREFIXES):
        found = next((m for form in _PREFIXES if (m := form.match(text))), None)
        if found is None:
            break
        named = found.groupdict()
        server = (named.get("server") or _of(named.get("labels")) or b"").decode("utf-8", "replace") or server
        time = (named.get("time") or b"").decode().replace(",", ".") or time
        text = text[found.end() :]
    return Bare(text, server, time)


def _of(labels: bytes | None) -> bytes:
    """Whose a line is, as its labels in Loki say: the pod's, or anybody's."""
    if labels is None:
        return b""
    pod = _POD.search(labels)
    return pod[1] if pod else ANY.encode()


class Pieces:
    """The pieces of lines that a container runtime has broken."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._open: dict[tuple[bytes, bytes], list[bytes]] = {}

    def whole(self, line: bytes) -> bytes | None:
        """The line, with the pieces before it if it ends some; None for a piece that is not the last. Of one that grows too long the beginning is left out, which damages it."""
        if line.startswith(b'{"log":"') and (found := _DOCKER.match(line)):
            key, (start, end) = (b"", found["stream"]), found.span("log")
            goes_on = not found["log"].endswith(b"\\n") and end - start > DOCKERS
        elif found := _PIECE.match(line):
            key, start, end = (found["whose"], found["stream"]), found.end(), len(line)
            goes_on = found["tag"] == b"P"
        else:
            return line
        if goes_on:
            pieces = self._open.setdefault(key, [])
            pieces.append(line[start:end])
            if sum(map(len, pieces)) > self._longest:
                del pieces[:-1]
            return None
        return line[:start] + b"".join(self._open.pop(key, ())) + line[start:]

    def rest(self) -> int:
        """How many lines have no end. They are forgotten."""
        number = len(self._open)
        self._open.clear()
        return number


QUARTER = timedelta(minutes=15)
MOST_AHEAD = timedelta(hours=14)


def zoned(local: datetime, passed_on: datetime) -> datetime:
    """A time of a clock whose zone, and year, nobody says, and that stood still some moments before it was passed on: zones differ by quarters of an hour."""
    ahead = min(
        (local.replace(year=year, tzinfo=UTC) - passed_on for year in _years(local, passed_on)), key=abs
    )
    nearest = round(ahead / QUARTER) * QUARTER
    return passed_on + ahead - (nearest if abs(nearest) <= MOST_AHEAD else timedelta())


def _years(local: datetime, passed_on: datetime) -> list[int]:
    near = range(passed_on.year - 1, passed_on.year + 2)
    leap = (local.month, local.day) == (2, 29)
    return [y for y in near if not leap or (y % 4 == 0 and (y % 100 != 0 or y % 400 == 0))] or [local.year]
