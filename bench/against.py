"""Tracing and checking, against another revision of podrace, in turns in one run: did what was added make what was there slower?

    python bench/against.py [REVISION]

REVISION is any name of a commit; by default HEAD, to which the files as they are now are compared. Seconds of CPU, medians. Where the states are not the same, both numbers are shown.
"""

from __future__ import annotations

import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = 5
ASKED = (
    ("72124", "S-NOMVIS", "1.13"),
    ("72124", "S-NOMVIS", "1.36"),
    ("gone-victim", "S-STUCK", "1.33"),
    ("skipped-in-flight", "S-STUCK", "1.28"),
    ("bound-phantom", "S-GHOST", "1.22"),
)

MEASURED = """
import json, sys, time
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios

race, name, release = sys.argv[1:]
(scenario,) = find_scenarios(race)
instrument(scenario.spec, resolve(release).classes, [PROPERTIES[name]])  # imports
begun = time.process_time()
system = instrument(scenario.spec, resolve(release).classes, [PROPERTIES[name]])
traced = time.process_time()
(result,) = check(system, [name])
done = time.process_time()
print(json.dumps([traced - begun, done - traced, result.counts.states]))
"""


def unpacked(revision: str, under: Path) -> Path:
    """The files of a revision, below a new folder."""
    made = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=False)
    if made.returncode:
        raise SystemExit(f"bench/against.py: {made.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(made.stdout)) as files:
        files.extractall(under, filter="data")
    return under


def importable(checkout: Path, under: Path) -> Path:
    """A folder in which the packages of a checkout are those of `podrace`."""
    package = under / "podrace"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()  # a package of its own, not a part of the one that is installed
    for folder in sorted(p for p in checkout.iterdir() if (p / "__init__.py").is_file()):
        (package / folder.name).symlink_to(folder)
    return under


def measured(path: Path, cache: Path, question: tuple[str, str, str]) -> tuple[float, float, int]:
    """Seconds of tracing and of checking, and the states."""
    environment = {**os.environ, "PYTHONPATH": str(path), "PODRACE_CACHE": str(cache)}
    command = [sys.executable, "-P", "-c", MEASURED, *question]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"bench/against.py: {question}: {done.stderr.strip().splitlines()[-1]}")
    traced, checked, states = json.loads(done.stdout)
    return traced, checked, states


def main() -> None:
    """Print for each question the seconds of both, and how many times those of the other they are now."""
    revision = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    with tempfile.TemporaryDirectory() as made:
        there = Path(made)
        paths = {
            "then": importable(unpacked(revision, there / "files"), there / "then"),
            "now": importable(ROOT, there / "now"),
        }
        print(f"{'':<42}{'tracing':>20}{'':>7}{'checking':>20}{'':>7}{'states':>10}")
        print(f"{'':<42}{'then':>10}{'now':>10}{'':>7}{'then':>10}{'now':>10}")
        for question in ASKED:
            found: dict[str, list[tuple[float, float, int]]] = {name: [] for name in paths}
            for turn in range(RUNS + 1):
                for name, path in paths.items():
                    one = measured(path, there / f"cache-{name}", question)
                    if turn:  # the first run compiles
                        found[name].append(one)
            states = sorted({one[2] for runs in found.values() for one in runs})
            row = f"{' '.join(question):<42}"
            for part in (0, 1):
                then, now = (statistics.median(run[part] for run in found[name]) for name in paths)
                row += f"{then:>10.3f}{now:>10.3f}{now / then:>6.2f}x"
            print(row + " != ".join(f"{n:>10,}" for n in states), flush=True)


if __name__ == "__main__":
    main()
