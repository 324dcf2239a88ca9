"""What bounded search with Z3 costs: bit-vectors against integers, and what the values within so many steps save.

Three pods with unknown requests and priorities, one of them on the only node at first. For each property and release: the
seconds until every run of up to STEPS steps is decided, with numbers as bit-vectors and as integers, and as bit-vectors without
leaving out what cannot have happened yet (`levels`); and how long a run is found.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from podrace.checker.reduction.value_analysis import ValueAnalysis
from podrace.checker.smt.theories import THEORIES, Theory
from podrace.checker.symbolic import unrolling as levels
from podrace.checker.symbolic.bounded import search
from podrace.model.history import resolve
from podrace.model.language import all_of
from podrace.model.language.expressions.expr import fresh_graph
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios.template import ClusterTemplate, Limits, instantiate

STEPS, TIMEOUT = 14, 300.0
CASES = (("S-NOMVIS", ()), ("S-NOMVIS", ("72259",)), ("S-CAP", ()), ("S-UNIQ", ("90660",)))


@contextmanager
def fixpoint_at_once() -> Iterator[None]:
    """The values of any number of steps at every depth."""
    within = levels.ValuesWithin
    with (
        mock.patch.object(within, "_solve", ValueAnalysis._solve),
        mock.patch.object(within, "advance", return_value=None),
    ):
        yield


def measure(prop: str, fixes: tuple[str, ...], theory: Theory) -> str:
    """Seconds and outcome of one search."""
    unknown = instantiate(ClusterTemplate((1,), 2, graceful=False, limits=Limits.small(3)))
    with fresh_graph():
        assumption = all_of(unknown.assumptions())
    system = instrument(unknown.spec, resolve("1.13", fixes).classes, [PROPERTIES[prop]])
    started = time.monotonic()
    found = search(system, prop, STEPS, assumption=assumption, timeout=TIMEOUT, theory=theory)
    what = f"{found.verdict.name.lower()} at {found.counts.depth}"
    return f"{time.monotonic() - started:>8.1f} s {what:<20}"


def main() -> None:
    """Print one line for each property."""
    print(f"{'1.13, 3 pods, 1 node':<24}{'bit-vectors':<31}{'integers':<31}{'bit-vectors, no levels':<31}")
    for prop, fixes in CASES:
        cells = [measure(prop, fixes, theory) for theory in THEORIES.values()]
        with fixpoint_at_once():
            cells.append(measure(prop, fixes, THEORIES["bit-vectors"]))
        print(f"{' + '.join((prop, *fixes)):<24}{''.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
