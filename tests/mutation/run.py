"""Mutation testing of the engines and of the model: `make mutants`.

Mutants are drawn by seed from all that `operators` finds. Each is tested by the files that reach the function in which it is, which is
measured first; those that mirror its file come first, then the quick ones. It is killed by the first failure, or by taking too long.
With `--again`, who survived meets more files, and these with all random examples.

Neither mutmut nor cosmic-ray fits: mutmut (3) keeps all mutants of a function beside each other and chooses while the program runs,
but the inner loops are translated from the source of a function, and the model is traced once; cosmic-ray changes the
checkout, and starts one command for every mutant, whatever it is.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.mutation.operators import Mutant, functions_of, mutants_of
from tests.mutation.workshop import MUTATED, ROOT, Outcome, Workshop, preload, workshop

KILLERS = (
    "tests/checker", "tests/independent", "tests/model", "tests/conformance", "tests/properties", "tests/analysis", "tests/races",
)  # fmt: skip
"""Where the tests are that may kill."""
MOST = {"fast": 60.0, "ci": 240.0}
"""Seconds of the tests that a mutant meets, by profile (see `tests/profiles.py`), as measured in the fast one."""
SLACK, FACTOR = 20.0, 4.0
"""A mutant may take so many seconds more, and so many times longer, than the tests do without it."""
COLUMNS = ("place", "operator", "change", "end", "by", "seconds")


@dataclass(frozen=True, slots=True)
class Killer:
    """A test file: how long it takes, and the functions that it reaches in each file."""

    file: str
    seconds: float
    reached: dict[str, list[str]]


def test_files(folders: Sequence[str]) -> list[str]:
    """Every test file of these folders."""
    found: list[Path] = []
    for name in folders:
        path = ROOT / name
        found += [path] if path.is_file() else sorted(path.rglob("test_*.py"))
    return [str(path.relative_to(ROOT)) for path in found]


def measured(shop: Workshop, kept: Path, files: Sequence[str]) -> list[Killer]:
    """These test files, as they were measured once (kept in `kept`). A file that fails without any mutant is left out."""
    known = (
        {entry["file"]: Killer(**entry) for entry in json.loads(kept.read_text())} if kept.exists() else {}
    )
    for file in files:
        if file not in known:
            outcome = shop.run([file], 600, recording=True)
            print(f"{file}: {outcome.end}, {outcome.seconds:.0f} s", flush=True)
            reached = {name: sorted(functions) for name, functions in outcome.reached.items()}
            known[file] = Killer(file, outcome.seconds, reached if outcome.end == "passed" else {})
            kept.parent.mkdir(parents=True, exist_ok=True)
            entries = [{"file": k.file, "seconds": k.seconds, "reached": k.reached} for k in known.values()]
            kept.write_text(json.dumps(entries))
    return [known[file] for file in files if known[file].reached]


def all_mutants(under: str = "") -> list[Mutant]:
    """Every mutant of the mutated folders, or of the files whose names begin with this."""
    files = sorted(path for folder in MUTATED for path in (ROOT / folder).rglob("*.py"))
    named = {str(path.relative_to(ROOT)): path.read_bytes() for path in files}
    return [m for name in named if name.startswith(under) for m in mutants_of(name, named[name])]


def killers_of(mutant: Mutant, killers: list[Killer], most: float) -> list[Killer]:
    """The tests that reach a mutant, so many seconds of them, the likely ones first."""
    source = (ROOT / mutant.file).read_bytes()
    around = [f"{name}:{first}" for name, first, last in functions_of(source) if first <= mutant.line <= last]
    reaching = [k for k in killers if mutant.file in k.reached]
    stem, folder = Path(mutant.file).stem, str(Path(mutant.file).parent)
    if around:
        reaching = [k for k in reaching if around[-1] in k.reached[mutant.file]]
    elif not reaching:  # names alone, such as those of phases: nothing of the file runs, its folder does
        reaching = [k for k in killers if any(str(Path(name).parent) == folder for name in k.reached)]

    def order(killer: Killer) -> tuple[bool, bool, float]:
        mirrored = stem.split("_")[0] in killer.file
        return not mirrored, folder not in killer.file, killer.seconds

    chosen: list[Killer] = []
    for killer in sorted(reaching, key=order):
        if not chosen or sum(k.seconds for k in chosen) + killer.seconds <= most:
            chosen.append(killer)
    return chosen


def tested(shop: Workshop, mutant: Mutant, killers: list[Killer], profile: str) -> tuple[str, str, float]:
    """How a mutant ends, by which test, and after how many seconds of the processor."""
    path = shop.tree / mutant.file
    source = path.read_bytes()
    try:
        path.write_bytes(mutant.applied(source))
        for cached in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            cached.unlink()
        chosen = killers_of(mutant, killers, MOST[profile])
        if not chosen:
            return "survived", "no test reaches it", 0.0
        limit = SLACK + FACTOR * sum(k.seconds for k in chosen) * (1 if profile == "fast" else 3)
        outcome = _steadily(shop, [k.file for k in chosen], limit, profile)
        end = {"passed": "survived", "failed": "killed", "timeout": "timeout"}[outcome.end]
        return end, outcome.failed, outcome.seconds
    finally:
        path.write_bytes(source)


def _steadily(shop: Workshop, files: list[str], limit: float, profile: str) -> Outcome:
    """What these files come to; a test that fails once and then passes, on the same mutant, does not count."""
    unsteady: list[str] = []
    spent = 0.0
    while True:
        outcome = shop.run(files, limit, profile, without=unsteady)
        spent += outcome.seconds
        if outcome.end == "failed" and "::" in outcome.failed:
            again = shop.run([outcome.failed], limit, profile)
            spent += again.seconds
            if again.end == "passed":
                unsteady.append(outcome.failed)
                continue
        return Outcome(outcome.end, outcome.failed, spent)


def main(arguments: list[str] | None = None) -> int:
    """Draw, test and write down; a mutant that the table has already is not tested again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--under", default="", help="draw from the files under this folder alone")
    parser.add_argument("--tests", nargs="+", default=KILLERS, help="the folders of tests that may kill")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no mutant after so long")
    parser.add_argument("--table", type=Path, default=ROOT / "tests/mutation/mutants.tsv")
    parser.add_argument("--again", action="store_true", help="test those that survived, with all examples")
    asked = parser.parse_args(arguments)
    preload()
    started = time.monotonic()
    drawn = Random(asked.seed).sample(all_mutants(asked.under), asked.count)
    lines = asked.table.read_text().splitlines()[1:] if asked.table.exists() else []
    rows = {tuple(line.split("\t")[:3]): line.split("\t") for line in lines}
    with workshop() as shop:
        killers = measured(shop, ROOT / "build/mutation/killers.json", test_files(asked.tests))
        for mutant in drawn:
            key = f"{mutant.file}:{mutant.line}", mutant.operator, mutant.change
            if (key not in rows) if asked.again else (key in rows):
                continue
            if asked.again and rows[key][3] != "survived":
                continue
            if time.monotonic() - started > asked.seconds:
                break
            end, by, seconds = tested(shop, mutant, killers, "ci" if asked.again else "fast")
            rows[key] = [*key, end, by, f"{seconds:.0f}"]
            print(*rows[key], sep="\t", flush=True)
            asked.table.write_text("".join("\t".join(row) + "\n" for row in (COLUMNS, *rows.values())))
    ends = [row[3] for row in rows.values()]
    dead = sum(end != "survived" for end in ends)
    print(
        f"{dead} of {len(ends)} killed, {ends.count('timeout')} of them by time; {len(ends) - dead} survived"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
