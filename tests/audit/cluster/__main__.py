"""Run the races on a real control plane, and store their audit logs: python -m tests.audit.cluster FOLDER [--store] [NAME ...]."""

from __future__ import annotations

import argparse
import gzip
import shutil
import signal
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from podrace.audit.audit import Asked, audit_logs
from podrace.reproduce.modules.module import parse_version

from .binaries import build
from .control_plane import ClusterProblem, control_plane
from .races import RACES

STORED = Path(__file__).parents[1] / "logs"
"""Where the logs are that the tests read."""

VERSION = "v1.36.3"


def main() -> int:
    """Run what is asked; the exit code."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path, help="for programs and logs")
    arguments.add_argument("names", nargs="*", default=list(RACES), help=", ".join(RACES))
    arguments.add_argument("--store", action="store_true", help="replace the logs that the tests read")
    arguments.add_argument("--pods", type=int, default=100, help="how many pods nothing-wrong schedules")
    arguments.add_argument("--times", type=int, default=1, help="how often each is run")
    arguments.add_argument("--kubernetes", default=VERSION, help=f"the version; {VERSION} without it")
    asked = arguments.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is stopped
    version = parse_version(asked.kubernetes)
    binaries = build(version, asked.folder.resolve() / version.tag)
    start = asked.folder / "nothing-there-yet.json"
    start.write_text('{"kind": "List", "items": []}', encoding="utf-8")
    given = Counter[tuple[str, str]]()
    for name in asked.names * asked.times:
        begun = monotonic()
        with TemporaryDirectory() as place:
            try:
                with control_plane(binaries, Path(place)) as plane:
                    RACES[name](binaries, plane, Path(place), asked.pods)
            except ClusterProblem as problem:
                kept = asked.folder / f"{name}-failed"
                shutil.copytree(place, kept, dirs_exist_ok=True)
                print(f"{name}: {problem}; what the programs said is in {kept}", file=sys.stderr)
                return 1
            log = asked.folder / f"{name}.jsonl"
            shutil.copyfile(plane.log, log)
            report = audit_logs(Asked([str(log)], [str(start)], complete=True))
            words = ", ".join(f"{answer.property} {answer.verdict}" for answer in report.answers)
            given[name, words] += 1
            size = f"{report.account.lines:,} lines, {report.account.writes:,} writes"
            spent = f"{monotonic() - begun:.0f} s"
            print(f"{name}: {words}; {size}, {spent}; podrace audit --explain {log}", flush=True)
            if asked.store:
                STORED.mkdir(exist_ok=True)
                with gzip.GzipFile(STORED / f"{name}.jsonl.gz", "wb", mtime=0) as out:
                    out.write(plane.log.read_bytes())
    if asked.times > 1:
        for (name, words), count in given.items():
            print(f"{name}, {count} of {asked.times} runs: {words}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
