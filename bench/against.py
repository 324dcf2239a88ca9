"""Tracing and checking, against another revision of podrace, in turns in one run: did what was added make what was there slower?

    python bench/against.py [REVISION]
    python bench/against.py REVISION --every [--cold] [--states N] [NAME ...]

REVISION is any name of a commit; by default HEAD, to which the files as they are now are compared. Seconds of CPU, medians. Where the states are not the same, both numbers are shown.

With `--every`, each scenario that both have is traced with its properties, and checked on its release, as that is, and with the fixes of its race: a search ends at N states (100,000). At the end are
the geometric means of the ratios, and what was counted differently. Each begins with a run that is not counted, which compiles; with `--cold` no run finds anything compiled.
"""

import argparse
import io
import json
import math
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from podrace.scenarios import find_scenarios

ROOT = Path(__file__).parents[1]
RUNS, RUNS_OF_EACH = 5, 3
MOST_STATES = 100_000
NEWEST = "1.36"
ASKED = (
    ("72124", "S-NOMVIS", "1.13", ""),
    ("72124", "S-NOMVIS", "1.36", ""),
    ("gone-victim", "S-STUCK", "1.33", ""),
    ("skipped-in-flight", "S-STUCK", "1.28", ""),
    ("bound-phantom", "S-GHOST", "1.22", ""),
)

MEASURED = """
import json, sys, time
import podrace.checker.explicit.engine  # some searches load it only when they come to it
from podrace.checker.core.exploration import Budget
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios

path, names, release, fixes, most = sys.argv[1:]
(scenario,) = find_scenarios(path)
asked = [name for name in names.split() if name in PROPERTIES]

def traced():
    return instrument(scenario.spec, resolve(release, fixes.split(), gates=scenario.feature_gates).classes, [PROPERTIES[name] for name in asked])

traced()  # imports
begun = time.process_time()
system = traced()
then = time.process_time()
results = check(system, asked, Budget(max_states=int(most) if most else None))
done = time.process_time()
print(json.dumps([then - begun, done - then, [(r.property_id, r.verdict.name, r.counts.states) for r in results]]))
"""

Question = tuple[str, str, str, str]
"""A scenario, properties, a release, and changes that are put in."""

Measured = tuple[tuple[float, float], list[tuple[str, str, int]]]
"""Seconds of tracing and of checking; for each property the verdict and the states."""


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


def measured(path: Path, cache: Path, question: Question, most: int | None) -> Measured:
    """One run, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(path), "PODRACE_CACHE": str(cache)}
    command = [sys.executable, "-P", "-c", MEASURED, *question, str(most or "")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"bench/against.py: {question}: {done.stderr.strip().splitlines()[-1]}")
    traced, checked, counts = json.loads(done.stdout)
    return (traced, checked), [(name, verdict, states) for name, verdict, states in counts]


def both_have(then: Path, names: Iterable[str]) -> list[tuple[str, Question]]:
    """The scenarios that are there now as well as then, all or those of these names, each with what is asked of it: its path, and the question."""
    found = []
    wanted = set(names)
    for path in sorted((ROOT / "scenarios").rglob("*.yaml")):
        inside = path.relative_to(ROOT)
        if not (then / inside).is_file() or (wanted and path.stem not in wanted):
            continue
        for scenario in find_scenarios(str(path)):
            if scenario.properties and not scenario.open:
                asked = (path.stem, " ".join(scenario.properties), scenario.release or NEWEST)
                fixes = scenario.race.after if scenario.race else ()
                found += [(str(inside), (*asked, put)) for put in dict.fromkeys(("", " ".join(fixes)))]
    return found


@dataclass
class Comparison:
    """How revisions are compared: their files, the folders to import them from, where what is compiled is kept, and how often each is asked.

    `most` is where a search ends; with `cold` no run finds anything compiled.
    """

    files: dict[str, Path]
    paths: dict[str, Path]
    there: Path
    most: int | None
    runs: int
    cold: bool = False
    _turns: int = 0

    def found(self, inside: str, question: Question) -> dict[str, list[Measured]]:
        """What each revision answers, in turns. `inside` is the file of the scenario, if each has its own."""
        found: dict[str, list[Measured]] = {name: [] for name in self.paths}
        for turn in range(self.runs + (not self.cold)):
            self._turns += 1
            for name, path in self.paths.items():
                put = (str(self.files[name] / inside), *question[1:]) if inside else question
                kept = f"cache-{name}-{self._turns}" if self.cold else f"cache-{name}"
                one = measured(path, self.there / kept, put, self.most)
                if turn or self.cold:  # the first run compiles
                    found[name].append(one)
        return found

    def compare(self, asked: list[tuple[str, Question]]) -> None:
        """Print a row for each question: the seconds of both, how many times those of the other they are now, and the states."""
        print(f"{'':<60}{'tracing':>20}{'':>7}{'checking':>20}{'':>7}{'states':>12}")
        print(f"{'':<60}{'then':>10}{'now':>10}{'':>7}{'then':>10}{'now':>10}")
        ratios: tuple[list[float], list[float]] = ([], [])
        others = []
        for inside, question in asked:
            found = self.found(inside, question)
            row = f"{' '.join(question):<60.60}"
            for part in (0, 1):
                then, now = (
                    statistics.median(seconds[part] for seconds, _ in found[name]) for name in self.paths
                )
                ratios[part].append(now / then)
                row += f"{then:>10.3f}{now:>10.3f}{now / then:>6.2f}x"
            counts = [found[name][0][1] for name in self.paths]
            shown = ["/".join(f"{states:,}" for _, _, states in some) for some in counts]
            if counts[0] != counts[1]:
                others.append(f"{' '.join(question)}: {counts[0]} then, {counts[1]} now")
            print(row + " != ".join(f"{one:>12}" for one in dict.fromkeys(shown)), flush=True)
        if ratios[0]:
            means = [math.exp(sum(map(math.log, some)) / len(some)) for some in ratios]
            print(f"{f'geometric means of {len(asked)}':<60}{means[0]:>26.2f}x{means[1]:>26.2f}x")
        for line in others:
            print(f"counted otherwise: {line}")


def main() -> None:
    """Compare what is asked for."""
    options = argparse.ArgumentParser(description=main.__doc__)
    options.add_argument("revision", nargs="?", default="HEAD")
    options.add_argument("names", nargs="*", help="with --every: these scenarios alone")
    options.add_argument("--every", action="store_true", help="every scenario that both have")
    options.add_argument("--cold", action="store_true", help="with --every: no run finds anything compiled")
    options.add_argument("--states", type=int, default=MOST_STATES, help="with --every: where a search ends")
    given = options.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as made:
        there = Path(made)
        files = {"then": unpacked(given.revision, there / "files"), "now": ROOT}
        paths = {name: importable(at, there / name) for name, at in files.items()}
        if given.every:
            every = Comparison(files, paths, there, given.states, RUNS_OF_EACH, given.cold)
            every.compare(both_have(files["then"], given.names))
        else:
            Comparison(files, paths, there, None, RUNS).compare([("", question) for question in ASKED])


if __name__ == "__main__":
    main()
