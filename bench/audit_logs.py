"""`podrace audit` on a large log: seconds of CPU, megabytes a second, and the peak of its memory, beside those on a tenth of it.

    python bench/audit_logs.py [MEGABYTES]

The log (1000 MB unless told otherwise) is one of a real kube-apiserver, repeated: each time all objects have new names and UIDs, all is a day later, and in the end all pods and
nodes are deleted. Each run is a process of its own. Memory that grew with the log would show beside the first row.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

LOG = Path(__file__).parents[1] / "tests" / "audit" / "logs" / "nothing-wrong.jsonl.gz"
MEGABYTE = 1_000_000
MEGABYTES = 1000
PARTS = 10

_TIME = re.compile(rb"(\d{4}-\d\d-\d\dT)(\d\d:\d\d:\d\d)")
_UID = re.compile(rb'("(?:auditID|uid)":")([0-9a-f]{8})')
_VERSION = re.compile(rb'("resourceVersion":")(\d+)')
_NAME = re.compile(rb"(?<=[\"/])([pn]\d+)(?=[\"/?])")

MEASURED = """
import json, resource, sys, time
from podrace.audit.audit import Asked, audit_logs
begun = time.process_time()
report = audit_logs(Asked(sys.argv[1:2], sys.argv[2:3], complete=True))
used = time.process_time() - begun
print(json.dumps([used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000, report.account.lines, [a.verdict for a in report.answers]]))
"""


def write_repeated(log: Path, size: int) -> int:
    """Write a log of at least so many bytes; how often the original is in it."""
    once = gzip.decompress(LOG.read_bytes())
    once += "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in _deletions(once)).encode()
    number = 0
    with log.open("wb") as out:
        while out.tell() < size:
            out.write(_renamed(once, number))
            number += 1
    return number


def _renamed(log: bytes, number: int) -> bytes:
    """The same log so many days later, with other names, UIDs and IDs of requests."""
    days = {day: _later(day, number) for day in {match[1] for match in _TIME.finditer(log)}}

    def moved(match: re.Match[bytes]) -> bytes:
        return days[match[1]] + match[2]

    def other(match: re.Match[bytes]) -> bytes:
        return match[1] + b"%08x" % ((int(match[2], 16) + number * 0x9E3779B1) % (1 << 32))

    text = _UID.sub(other, _TIME.sub(moved, log))

    def greater(match: re.Match[bytes]) -> bytes:
        return match[1] + b"%d" % (int(match[2]) + number * 1_000_000)

    return _VERSION.sub(greater, _NAME.sub(rb"\1-%d" % number, text))


def _deletions(log: bytes) -> Iterator[dict[str, Any]]:
    """Both lines of a deletion of each pod and node that is still there in the end, made of such lines of the log."""
    events = [json.loads(line) for line in log.splitlines()]
    example = next(e for e in events if e["verb"] == "delete" and e["stage"] == "ResponseComplete")
    there: dict[tuple[str, str], dict[str, Any]] = {}
    for event in events:
        reference, body = event["objectRef"], event.get("responseObject")
        if event["verb"] == "delete":
            there.pop((reference["resource"], reference["name"]), None)
        elif body and body["kind"] in ("Pod", "Node"):
            there[reference["resource"], reference["name"]] = body
    for number, ((resource, name), body) in enumerate(there.items()):
        gone = {**body, "metadata": {**body["metadata"], "deletionGracePeriodSeconds": 0}}
        moment = f"{example['stageTimestamp'][:17]}59.{number:06}Z"
        space = {"namespace": "default"} if resource == "pods" else {}
        path = f"namespaces/default/pods/{name}" if resource == "pods" else f"nodes/{name}"
        both = {
            **example, "auditID": f"{number:08x}{example['auditID'][8:]}", "requestURI": f"/api/v1/{path}", "requestReceivedTimestamp": moment,
            "stageTimestamp": moment, "objectRef": {"resource": resource, **space, "name": name, "apiVersion": "v1"},
        }  # fmt: skip
        bodies = ("requestObject", "responseObject", "responseStatus")
        yield {**{k: v for k, v in both.items() if k not in bodies}, "stage": "RequestReceived"}
        yield {
            **both,
            "stage": "ResponseComplete",
            "responseObject": gone if resource == "pods" else {"kind": "Status", "status": "Success"},
        }


def _later(day: bytes, days: int) -> bytes:
    moment = datetime.strptime(day.decode(), "%Y-%m-%dT").replace(tzinfo=UTC) + timedelta(days=days)
    return moment.strftime("%Y-%m-%dT").encode()


def measured(log: Path, start: Path) -> tuple[float, float, int, list[str]]:
    """Seconds of CPU, megabytes at the peak, lines, and the answers."""
    ran = subprocess.run(
        [sys.executable, "-c", MEASURED, str(log), str(start)], capture_output=True, check=True
    )
    seconds, peak, lines, verdicts = json.loads(ran.stdout)
    return seconds, peak, lines, verdicts


def main() -> None:
    """Print a row for the tenth and one for the whole."""
    whole = int(sys.argv[1]) if len(sys.argv) > 1 else MEGABYTES
    print(f"{'MB':>6} {'lines':>10} {'CPU s':>7} {'MB/s':>6} {'peak MB':>8}  answers")
    with tempfile.TemporaryDirectory() as folder:
        start = Path(folder) / "start.json"
        start.write_text('{"kind": "List", "items": []}')
        for megabytes in (whole // PARTS, whole):
            log = Path(folder) / "large.jsonl"
            write_repeated(log, megabytes * MEGABYTE)
            size = log.stat().st_size / MEGABYTE
            seconds, peak, lines, verdicts = measured(log, start)
            print(
                f"{size:6.0f} {lines:10,} {seconds:7.1f} {size / seconds:6.1f} {peak:8.0f}  {', '.join(sorted(set(verdicts)))}"
            )


if __name__ == "__main__":
    main()
