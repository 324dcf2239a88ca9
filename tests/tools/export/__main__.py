"""Write a transition system for SPIN or TLC, from a checkout:

python -m tests.tools.export 53647 --property S-ERR --to promela --write race.pml
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from podrace.analysis.own_systems import names_own_system, own_system
from podrace.analysis.request.plan import Selection
from podrace.base.problems import Problem
from tests.tools.export.exporting import exported, exported_own


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or to stdout; gives the exit code, 2 for a problem of the user's."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.export", description=__doc__)
    parser.add_argument("name", metavar="NAME|FILE|FILE.py:CLASS")
    parser.add_argument("--to", choices=("promela", "tlaplus"), required=True)
    parser.add_argument("--property", metavar="ID", help="one of `podrace properties`")
    parser.add_argument("--whole", action="store_true", help="leave nothing out")
    parser.add_argument("--release", metavar="X.Y[.Z]")
    for option in ("--with-fix", "--without-fix"):
        parser.add_argument(option, action="append", default=[], metavar="N")
    parser.add_argument("--gate", action="append", default=[], metavar="NAME=true|false")
    parser.add_argument("--size", action="append", default=[], metavar="KIND=N")
    parser.add_argument("--write", type=Path, metavar="FILE")
    asked = parser.parse_args(arguments)
    try:
        if ".py" in asked.name and names_own_system(asked.name):
            own = own_system(asked.name, asked.size)
            texts = exported_own(own, asked.to, asked.whole, asked.property, asked.write)
        else:
            properties = (asked.property,) if asked.property else ()
            changes = asked.with_fix, asked.without_fix
            selection = Selection((asked.name,), asked.release, *changes, properties, gates=asked.gate)
            texts = exported(selection, asked.to, asked.whole, asked.write)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 2
    for path, text in texts.items():
        if path is None:
            print(text, end="")
        else:
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
