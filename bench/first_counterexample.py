"""From the start of the command to the counterexample of each seed race, with a cold and with a warm cache.

Each run is a process of its own. Cold: an empty cache directory, so that the engine and the model are
compiled. Warm: the same directory again.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 3
PODRACE = Path(sys.executable).with_name("podrace")


def seconds(race: str, cache: str) -> float:
    """Wall time of one `podrace check RACE` that must find a violation."""
    started = time.perf_counter()
    environment = {**os.environ, "PODRACE_CACHE": cache, "PODRACE_NO_CACHE": "1"}  # compiled code only
    done = subprocess.run(
        [PODRACE, "check", race], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 1:
        raise SystemExit(f"podrace check {race} was meant to exit 1, not {done.returncode}:\n{done.stderr}")
    return time.perf_counter() - started


def main() -> None:
    """Print the medians of RUNS runs, and cold over warm."""
    print(f"{'race':<8}{'cold':>9}{'warm':>9}{'cold/warm':>11}   (seconds, medians of {RUNS} runs)")
    for race in ("72124", "53647"):
        cold, warm = [], []
        for _ in range(RUNS):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(seconds(race, cache))
                warm.append(seconds(race, cache))
        slow, fast = statistics.median(cold), statistics.median(warm)
        print(f"{race:<8}{slow:>9.2f}{fast:>9.2f}{slow / fast:>11.1f}")


if __name__ == "__main__":
    main()
