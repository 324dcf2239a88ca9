"""Random walks on all cores, put together in the order of their numbers."""

from __future__ import annotations

import time
from collections.abc import Callable

from ....model.language import TransitionSystem
from ...codegen.machine_code import compile_ir
from ...codegen.program import generate
from ..states.threads import Crew
from .walkers import AT_ONCE, Tally, Walkers

_STRETCH = 1 << 19
"""Steps that one thread takes before the threads meet, about: those walked beyond a violation are lost."""

MOST_WALKS = 1 << 62


def walk_at_random(
    system: TransitionSystem,
    *,
    seed: int,
    walks: int | None,
    length: int,
    by_step: bool,
    timeout: float | None = None,
    jobs: int = 1,
    at_once: int = AT_ONCE,
    progress: Callable[[Tally, float], None] | None = None,
) -> tuple[Tally, Walkers, float]:
    """Take random walks until one violates an invariant, or their number or the time is over.

    Gives what was seen, walkers that can repeat a walk, and the seconds of walking. Unless the time is over, what was seen
    depends neither on `jobs` nor on `at_once`.
    """
    program = generate(system)
    code = compile_ir(program.ir)
    crew_size = max(1, min(jobs, walks or jobs))
    members = [Walkers(program, code, seed, length, by_step, at_once) for _ in range(crew_size)]
    total, end = members[0].walk(0, 0), MOST_WALKS if walks is None else walks
    began = time.monotonic()  # the inner loop is compiled by now
    stretch = max(AT_ONCE, min(_STRETCH // length, -(-end // crew_size)))

    interrupted: list[bool] = []

    def in_time() -> bool:
        return not interrupted and (timeout is None or time.monotonic() - began < timeout)

    with Crew(crew_size) as crew:
        first = 0
        while first < end and total.broken is None and in_time():
            found: list[Tally] = [total] * crew_size

            def task(member: int, first: int = first, found: list[Tally] = found) -> None:
                start = min(first + member * stretch, end)
                found[member] = members[member].walk(start, min(start + stretch, end), in_time)

            try:
                crew.run(task)
            except BaseException:
                interrupted.append(True)  # the other threads need not walk to the end of their stretches
                raise
            for tally in found:
                if total.broken is None:
                    total.add(tally)
            first += crew_size * stretch
            if progress is not None:
                progress(total, time.monotonic() - began)
    return total, members[0], time.monotonic() - began
