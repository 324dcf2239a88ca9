"""The other way round than `podrace lockstep`: the real scheduler runs freely, and the model is to explain it. Needs Go 1.26 or later.

    python -m tests.tools.recorded --kubernetes v1.36.3 --clusters 40 --runs 13 --store DIR

The exit code is 3 if a run is not explained.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from podrace.base.problems import Problem
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.modules.toolchain import find_go
from tests.tools.recorded.recording import Asked
from tests.tools.recorded.request import recorded


def main() -> int:
    """Record, explain, print; gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.recorded", description=__doc__)
    parser.add_argument("--kubernetes", action="append", required=True, metavar="vX.Y.Z")
    parser.add_argument("--clusters", type=int, default=40)
    parser.add_argument("--runs", type=int, default=13)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", type=Path, metavar="DIR", help="where an example of each cause goes")
    asked = parser.parse_args()
    free = Asked(asked.clusters, asked.runs, asked.seed * asked.clusters)
    if asked.store is not None:
        asked.store.mkdir(parents=True, exist_ok=True)
    code = 0
    try:
        for version in map(parse_version, asked.kubernetes):
            found = recorded(version, free, find_go(), lambda line: print(line, file=sys.stderr), asked.store)
            told = "explained" if not found.causes else f"{found.differing:,} NOT EXPLAINED"
            print(
                f"{version}: {found.runs:,} free runs {told}; {found.steps:,} steps explain them, seed {free.first}"
            )
            for cause in found.causes:
                print(f"  {cause.runs:,} {cause.name}: {cause.words} {cause.trace}")
                code = 3
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
