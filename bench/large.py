"""Large searches: bytes a state, seconds and memory for 10 and 100 million states, and the limit that binds.

Each search is a process of its own, so that its memory is its own: the peak that the system reports, which
includes some 200 MiB for Python and the compilers. `states` is what a packed state takes, `table` what is kept
beside it in memory.

    python bench/large.py [SIZE ...] [--disk DIR]      # SIZE: states, such as 10_000_000

With --growth, one search on disk, and a line for each tenth of its SIZE: how fast it was since the line before, by the clock and by CPU, and
what memory it had. It ends after SECONDS, or goes on with what an earlier one has left in DIR/growth.

    python bench/large.py --growth SIZE --disk DIR [--words N] [--memory GIB] [--jobs N] [--seconds N]
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from podrace.checker.codegen.program import generate
from podrace.checker.core.exploration import Budget, Progress
from podrace.checker.core.machine import cores, safe_memory
from podrace.checker.explicit import explore
from podrace.checker.explicit.checkpoint import Checkpoint
from podrace.checker.explicit.engine import Search
from podrace.checker.explicit.states.budget import SearchBudget
from podrace.checker.explicit.states.workers import Workers
from podrace.checker.llvm.machine_code import compile_system

if __package__:
    from bench.native_speed import synthetic
else:  # run as a script
    from native_speed import synthetic  # type: ignore[no-redef,import-not-found]

SIZES = (10_000_000, 100_000_000)


def measure(size: int, words: int, disk: Path | None) -> dict[str, float]:
    """Search that many states of the synthetic system in this process."""
    program = generate(synthetic(words, jobs=8))
    compile_system(program.ir)
    checkpoint = Checkpoint(disk, program, resume=False) if disk else None
    with Workers(cores()) as workers:
        budget = SearchBudget(Budget(max_states=size, max_memory=safe_memory()), None)
        search = Search(program, budget, workers, checkpoint)
        found = search.run()
    assert search.store is not None
    return {
        "states": found.states,
        "seconds": found.seconds,
        "table": search.store.table.nbytes / found.states,
        "origins": search.store.origins.nbytes / found.states,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def growth(size: int, folder: Path, words: int, memory: int, jobs: int, seconds: float | None) -> None:
    """Print one line for each tenth of a search of `size` states on disk."""
    system = replace(synthetic(words, jobs=9), invariants={}, witnesses={}, resettabilities={}, livenesses={})
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{words} words, memory budget {memory / 2**30:.1f} GiB, {jobs} workers, {cores()} cores")
    print(f"{'states':>13}{'M st/s':>9}{'us of CPU a state':>19}{'budget used, GiB':>18}{'files, GiB':>12}")
    last = [0, time.monotonic(), time.process_time()]

    def look(now: Progress) -> None:
        if now.states - last[0] >= size // 10:
            clock, cpu, found = time.monotonic(), time.process_time(), now.states - last[0]
            files = sum(file.stat().st_size for file in folder.iterdir())
            print(
                f"{now.states:>13,}{found / (clock - last[1]) / 1e6:>9.2f}{(cpu - last[2]) / found * 1e6:>19.3f}"
                f"{now.memory / 2**30:>18.2f}{files / 2**30:>12.2f}",
                flush=True,
            )
            last[:] = now.states, clock, cpu

    budget = Budget(max_states=size, max_memory=memory, timeout=seconds, jobs=jobs, disk=folder, resume=True)
    found = explore(system, budget, look)
    print(f"{found.states:>13,} in {found.seconds:,.0f} s, {found.stopped or 'complete'}")


def main() -> None:
    """Print one line for each size, width and place of the states."""
    arguments = sys.argv[1:]
    if "--growth" in arguments:
        given = dict(zip(arguments[::2], arguments[1::2], strict=True))
        budget = int(float(given["--memory"]) * 2**30) if "--memory" in given else safe_memory() or 0
        seconds = float(given["--seconds"]) if "--seconds" in given else None
        width, jobs = int(given.get("--words", "1")), int(given.get("--jobs", str(cores())))
        growth(int(given["--growth"]), Path(given["--disk"]) / "growth", width, budget, jobs, seconds)
        return
    folder = Path(arguments[arguments.index("--disk") + 1]) if "--disk" in arguments else None
    sizes = [int(a) for a in arguments if a.replace("_", "").isdigit()] or SIZES
    memory = safe_memory() or 0
    print(f"{cores()} cores, memory budget {memory / 2**30:.1f} GiB; bytes a state: packed + table + origins")
    print(
        f"{'states':>13}{'words':>6} {'where':<7}{'s':>8}{'M st/s':>8}{'bytes a state':>24}{'peak GiB':>10}  binds"
    )
    for size in sizes:
        for words in (1, 2):
            for where in ("memory", "disk"):
                with tempfile.TemporaryDirectory(dir=folder) as place:
                    disk = f"{place}/states" if where == "disk" else ""
                    command = [sys.executable, __file__, "--one", str(size), str(words), disk]
                    done = subprocess.run(command, capture_output=True, text=True, check=True)
                found = json.loads(done.stdout)
                beside = found["table"] + (0 if disk else found["origins"])
                each = beside + (0 if disk else 8 * words)
                limit = min(memory / each, 2**32 * 7 / 8)
                why = "memory" if limit == memory / each else "32-bit numbers"
                print(
                    f"{found['states']:>13,}{words:>6} {where:<7}{found['seconds']:>8.1f}"
                    f"{found['states'] / found['seconds'] / 1e6:>8.2f}"
                    f"{8 * words:>8} + {found['table']:>5.2f} + {found['origins']:>5.2f}{found['peak'] / 2**30:>10.2f}"
                    f"  {why}, at {limit / 1e6:,.0f} M states",
                    flush=True,
                )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        _, _, states, width, directory = sys.argv
        print(json.dumps(measure(int(states), int(width), Path(directory) if directory else None)))
    else:
        main()
