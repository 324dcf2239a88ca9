"""How near a search comes to what memory allows: its look-ups against random probes, in one process.

A search has to find each successor in its table. That is at least one place of memory that nobody knew before, a line of the table; and in a table of
*numbers* the words of the state that its entry names, where the successor is one that was found before. (In a table of *keys* the entry is the state.)
Nothing that looks states up can be quicker than asking for these places, which is measured here as well: a loop asks for entries of a table of the same
length and type as the search's own at its end, in the same kind of memory, at places that a hash makes up, AHEAD places before it reads them. As a search with N threads does,
N threads ask at the same time. Both are kernels, compiled alike.

    lookups/s   successors looked up in a second: those of all transitions but those that slept (docs/notebook/engine.md)
    places      places of memory for each look-up, by design: 1 in a table of keys; in one of numbers, and the lines that a state's words touch on average, for each successor that was known
    probes/s    what the loop does in a second
    share       lookups/s x places / (probes/s): how much of the limit is reached; by the clock, and by user time, which says more on a machine that has other things to do
    bytes       a state takes, with its table and what its parents are told from

What it does not measure: the expansion of states, which a search does beside, is part of its seconds, so a share of 100 % cannot be had. The places of a real search are not
random: most successors equal a state that is near, in some cache. And while a search runs, its table is mostly smaller than at its end. Both make the limit lower than it is, so a share may be too large,
above 100 % for a small table; never read it as "nothing is left to be had". Fresh memory and compiling are left out: the first search of each system is not counted.

    python bench/memory_limit.py [--runs RUNS] [NAME...]

The names are those of `SYSTEMS`; without one, all of them. Medians of RUNS searches, with loops of the same number of threads between.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from podrace.checker.codegen.mixed_radix import in_fewer_words
from podrace.checker.codegen.program import generate
from podrace.checker.core.exploration import Budget
from podrace.checker.explicit.engine import Search
from podrace.checker.explicit.states.arrays import Block
from podrace.checker.explicit.states.budget import SearchBudget
from podrace.checker.explicit.states.hash_table import Table, hash_of_key
from podrace.checker.explicit.states.sleep_sets import SleepSets
from podrace.checker.explicit.states.workers import Workers
from podrace.checker.kernel_compiler.intrinsics import LINE_BYTES, prefetch
from podrace.checker.kernel_compiler.jit import inline, jit
from podrace.model.language import TransitionSystem

if __package__:
    from bench.parallel import scenario
    from bench.systems import SYSTEMS as OTHERS
else:  # run as a script
    from parallel import scenario  # type: ignore[no-redef,import-not-found]
    from systems import SYSTEMS as OTHERS  # type: ignore[no-redef,import-not-found]

PROBES = 100_000_000

AHEAD = np.uint64(64)
"""As far ahead as a search asks for an entry of its table."""

SYSTEMS: dict[str, Callable[[], TransitionSystem]] = {
    "72124": lambda: scenario("72124", "1.13", (), "S-NOMVIS"),
    **{name: OTHERS[name] for name in ("leases", "coherence", "raft")},
}


@inline
def place_of(table: Table, number: Any) -> Any:
    """Where the loop reads: from the upper half of a hash, as a search has it."""
    thirty_two = np.uint64(32)
    return ((hash_of_key(number) >> thirty_two) * np.uint64(len(table))) >> thirty_two


@jit
def probe(table: Table, first: int, last: int) -> int:
    """Read the places number first .. last - 1, each asked for before."""
    found: Any = np.uint64(0)
    for k in range(np.uint64(first), np.uint64(last)):
        prefetch(table, place_of(table, k + AHEAD))
        found = found + np.uint64(table[place_of(table, k)])
    return found


class Measured(NamedTuple):
    """Seconds by the clock and of the processor in user code, and how much was done in them."""

    clock: float
    user: float
    done: float

    @property
    def rates(self) -> tuple[float, float]:
        """How much was done in a second of each."""
        return self.done / self.clock, self.done / self.user


class Searched(NamedTuple):
    """One search: what it looked up, in which table, and what a state took."""

    lookups: Measured
    places: float
    table: Any
    length: int
    states: int
    bytes: float
    slept: float


def measured(work: Callable[[], float]) -> Measured:
    """Do the work, which says how much it was."""
    clock, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    done = work()
    user = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before.ru_utime
    return Measured(time.perf_counter() - clock, user, done)


def searched(system: TransitionSystem, jobs: int) -> Searched:
    """Search all of the system."""
    program = generate(in_fewer_words(system))
    with Workers(jobs) as workers:
        search = Search(program, SearchBudget(Budget(), None), workers, sleep_sets=SleepSets(system))
        states, transitions = 0, 0

        def run() -> float:
            nonlocal states, transitions
            found = search.run()
            states, transitions = found.states, found.transitions
            return found.transitions

        taken = measured(run)
        store = search.store
        assert store is not None
        batches = [search.batch, *(search.parallel.batches if search.parallel else ())]
        slept = sum(int(batch.tally[1]) for batch in batches)
        lookups = transitions - slept
        words = program.layout.words
        lines = 1 + (words - 1) * 8 / LINE_BYTES
        keyed = len(store.arrays.keyed) > 0
        places = 1.0 if keyed else 1 + lines * (lookups - states) / lookups
        beside = store.table.nbytes / states + store.origins.nbytes / store.capacity
        dtype, length = store.table.dtype, len(store.table)
        done = taken._replace(done=lookups)
        return Searched(done, places, dtype, length, states, 8 * words + beside, slept / transitions)


def probed(dtype: Any, length: int, jobs: int) -> Measured:
    """Probe a table of that length by so many threads at once, each with places of its own."""
    block = Block(dtype, length)
    block.array[:] = 1  # fresh memory is not what is measured
    with Workers(jobs) as workers:

        def run() -> float:
            share = PROBES // jobs
            workers.run(lambda me: probe(block.array, me * share, (me + 1) * share))
            return share * jobs

        probe(block.array, 0, 1)  # compiles
        return measured(run)


def report(name: str, system: TransitionSystem, jobs: int, runs: int) -> None:
    """Print the line of one system and number of threads."""
    first = searched(system, jobs)  # compiles, and has the memory
    searches, probes = [], []
    for _ in range(runs):
        searches.append(searched(system, jobs))
        probes.append(probed(first.table, first.length, jobs))
        assert searches[-1].states == first.states
    lookups, limit = (
        [statistics.median(column) for column in zip(*(one.rates for one in many), strict=True)]
        for many in ((one.lookups for one in searches), probes)
    )
    shares = [rate * first.places / most for rate, most in zip(lookups, limit, strict=True)]
    kind = "keys" if first.table == np.uint64 else "numbers"
    print(
        f"{name:<12}{jobs:>8}{first.states:>12,}{first.slept:>7.0%}{first.length * first.table.itemsize / 2**20:>7.0f} MiB {kind:<8}"
        f"{lookups[0] / 1e6:>12.1f}{first.places:>8.2f}{limit[0] / 1e6:>10.1f}{shares[0]:>7.0%}"
        f"{lookups[1] / 1e6:>12.1f}{limit[1] / 1e6:>10.1f}{shares[1]:>7.0%}{first.bytes:>7.1f}",
        flush=True,
    )


def main() -> None:
    """Print one line for each system with one thread and with two."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", choices=[*SYSTEMS, []], metavar="NAME")
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    print(f"{'':<59}{'by the clock, millions':>37}{'by user time':>29}")
    print(
        f"{'system':<12}{'threads':>8}{'states':>12}{'slept':>7}{'table':>11} {'of':<8}"
        f"{'lookups/s':>12}{'places':>8}{'probes/s':>10}{'share':>7}{'lookups/s':>12}{'probes/s':>10}{'share':>7}{'bytes':>7}"
    )
    for name in asked.names or SYSTEMS:
        system = SYSTEMS[name]()
        bare = replace(system, invariants={}, witnesses={}, resettabilities={}, livenesses={})
        for jobs in (1, 2):
            report(name, bare, jobs, asked.runs)


if __name__ == "__main__":
    main()
