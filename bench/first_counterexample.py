"""From the start of the command to the counterexample of each race of the catalogue: seconds of CPU of the whole command.

Each run is a process of its own. Three ways:

    cold    an empty cache directory: the engine, which is the same for all races, and the code of the race are compiled
    warm    compiled code is kept, and nothing else: as for another budget, or after a change of the scenario that changes no code
    again   the very same command once more: its finding is kept

`--closing 0`, since what closes a race is a question about other systems, of any size. Bytecode is kept, as it is where podrace was
installed. CPU time, since the clock of a shared machine says little; it counts what all threads did. Arguments: names of races to take.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from podrace.scenarios import catalogue

RUNS = int(os.environ.get("RUNS", "3"))
PODRACE = Path(sys.executable).with_name("podrace")
WARM, COLD = 0.7, 2.0
"""What is aimed at."""


def seconds(race: str, environment: Mapping[str, str]) -> float:
    """CPU time of one `podrace check RACE` that must find a violation."""
    command = [str(PODRACE), "check", race, "--closing", "0", "--jobs", "1"]
    before = os.times()
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    after = os.times()
    if done.returncode != 1:
        raise SystemExit(f"podrace check {race} was meant to exit 1, not {done.returncode}:\n{done.stderr}")
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Print the medians of RUNS runs, and how many races keep to what is aimed at."""
    names = sys.argv[1:] or [scenario.name for scenario in catalogue() if scenario.race is not None]
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    print(f"{'race':<28}{'cold':>8}{'warm':>8}{'again':>8}   (seconds of CPU, medians of {RUNS} runs)")
    rows = []
    with tempfile.TemporaryDirectory() as bytecode:
        os.environ["PYTHONPYCACHEPREFIX"] = bytecode
        with tempfile.TemporaryDirectory() as cache:
            seconds(names[0], {"PODRACE_CACHE": cache})  # leaves the bytecode
        for name in names:
            ways: list[list[float]] = [[], [], []]
            for _ in range(RUNS):
                with tempfile.TemporaryDirectory() as cache:
                    kept = {"PODRACE_CACHE": cache}
                    ways[0].append(seconds(name, kept))
                    ways[1].append(seconds(name, {**kept, "PODRACE_NO_CACHE": "1"}))
                    ways[2].append(seconds(name, kept))
            rows.append([statistics.median(way) for way in ways])
            print(f"{name:<28}" + "".join(f"{s:>8.2f}" for s in rows[-1]), flush=True)
    middle = [statistics.median(row[i] for row in rows) for i in range(3)]
    most = [max(row[i] for row in rows) for i in range(3)]
    print(f"{'median':<28}" + "".join(f"{s:>8.2f}" for s in middle))
    print(f"{'most':<28}" + "".join(f"{s:>8.2f}" for s in most))
    for i, (way, aim) in enumerate((("cold", COLD), ("warm", WARM), ("again", WARM))):
        print(f"{way}: {sum(row[i] <= aim for row in rows)} of {len(rows)} within {aim} s")


if __name__ == "__main__":
    main()
