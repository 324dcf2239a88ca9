"""Upstream's unit-test tables, played on the model: `make conform CASES="FILE... --release X.Y"`.

A line for each case, then how many passed, failed and were skipped. The exit code is 1 if a case failed, and 2 for wrong input.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from podrace.analysis.request.plan import release_of
from podrace.base.problems import Problem
from podrace.base.text import one_line
from tests.conformance.cases.cases import read_table
from tests.conformance.registry import run_table

DEFAULT_RELEASE = "1.22"


def main(arguments: Sequence[str]) -> int:
    """Play the tables of some files; every file is read before the first case runs."""
    parser = argparse.ArgumentParser(
        prog="make conform", description="Upstream's unit-test tables, played on the model."
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument(
        "--release", metavar="X.Y", help=f"the scheduler's release ({DEFAULT_RELEASE} unless told otherwise)"
    )
    wanted = parser.parse_args(arguments)
    try:
        release = release_of(wanted.release, DEFAULT_RELEASE)
        tables = [read_table(path) for path in wanted.files]
    except Problem as problem:
        print(f"conform: {problem}", file=sys.stderr)
        return 2
    counts: Counter[str] = Counter()
    for table in tables:
        for name, outcome in run_table(table, release):
            counts[outcome.status] += 1
            print(f"{outcome.status}  {one_line(name, 200)}{f': {outcome.reason}' if outcome.reason else ''}")
    print(f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['SKIP']} skipped")
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
