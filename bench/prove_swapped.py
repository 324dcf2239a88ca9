"""What `prove` saves where of clusters that differ only in which pod or node is which, one is explored: each placement with all of them, and with one of each.

    python bench/prove_swapped.py                # 3 pods and 2 nodes: half a minute
    python bench/prove_swapped.py 4 1 300        # other sizes, and at most so many seconds for each search

For S-NOM on 1.36.3, the default scope and `time: scales`. CPU seconds: to trace, to compare what is swapped, to slice and compile, and to search. The first
search also compiles what all searches share.
"""

import sys
import time
from itertools import pairwise

from podrace.checker.core.exploration import Budget
from podrace.checker.family.search import FamilySearch
from podrace.checker.parametric.interchangeable import ordered
from podrace.checker.parametric.parametric_system import ParametricSystem
from podrace.model.environment.objects import Scope
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios.template import ClusterTemplate, instantiate, templates

PROPERTY, RELEASE = "S-NOM", "1.36.3"
PODS, NODES, SECONDS = [*map(int, sys.argv[1:]), *(3, 2, 600)[len(sys.argv) - 1 :]]


def measured(template: ClusterTemplate, one_of_each: bool) -> tuple[float, str]:
    """CPU seconds, and a line about one search."""
    moments = [time.process_time()]
    found = instantiate(template)
    system = instrument(found.spec, resolve(RELEASE).classes, [PROPERTIES[PROPERTY]])
    parametric = ParametricSystem(system, found.parameters, found.assumptions())
    moments.append(time.process_time())
    if one_of_each:
        parametric = ordered(parametric, PROPERTY, found.neighbours())
    moments.append(time.process_time())
    search = FamilySearch(parametric, PROPERTY)
    moments.append(time.process_time())
    outcome = search.run(Budget(timeout=SECONDS))
    moments.append(time.process_time())
    violating = sum(cell.violated is not None for cell in outcome.cells)
    parts = " + ".join(f"{end - begin:.1f}" for begin, end in pairwise(moments))
    said = f"{len(outcome.cells):,} clusters, {violating} violating, {outcome.states:,} states: {parts} s"
    return moments[-1] - moments[0], said + (f" (stopped: {outcome.stopped})" if outcome.stopped else "")


def main() -> None:
    """Print a line for each placement and way."""
    sums = {False: 0.0, True: 0.0}
    for template in templates(PODS, NODES, ClusterTemplate((), 0, scope=Scope(time="scales"))):
        for one_of_each in sums:
            seconds, said = measured(template, one_of_each)
            sums[one_of_each] += seconds
            print(f"{template!s:34} {'one of each' if one_of_each else 'all':12} {said}", flush=True)
    print(f"all: {sums[False]:.1f} s; one of each: {sums[True]:.1f} s")


if __name__ == "__main__":
    main()
