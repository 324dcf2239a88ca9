"""All clusters of one size together against each by itself: the same invariant, the same placements, in one run and one process.

    python bench/family.py [PODS] [NODES] [together]

By default 2 pods and 2 nodes. With `together`, those by themselves are left out: of 3 pods and 2 nodes, Z3 does not even enumerate them
within minutes. Seconds are of CPU time, with what it takes to compile (nothing, where an earlier run left it in the cache).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from podrace.analysis.prove.cluster_batches import Task, work
from podrace.analysis.prove.cluster_families import FamilyTask
from podrace.analysis.prove.outcomes import BatchOutcome
from podrace.analysis.prove.proof_request import ProofQuestion
from podrace.checker.parametric.parametric_system import Regions
from podrace.model.environment.objects import Scope
from podrace.scenarios.template import ClusterTemplate, Limits, templates

CASES = (
    ("1.13", ("72259",), "S-NOMVIS"),
    ("1.14", (), "S-NOM"),
    ("1.36", (), "S-NOM"),
    ("1.36", (), "S-STUCK"),
)
EXAMPLE = ClusterTemplate((), 0, graceful=False, limits=Limits(least_request=1), scope=Scope(pod_events=2))


def alone(question: ProofQuestion) -> Task:
    """All clusters of a placement that all questions tell apart, up to proved renaming."""
    parametric = question.parametric_system()
    regions = Regions(parametric, question.property)
    ranges = tuple(regions.ranges[q] for q in parametric.parameters)
    members = [
        (tuple(r.values[q] for q in parametric.parameters), r.regions) for r in regions.representatives
    ]
    return Task(question, ranges, tuple(members))


def measured(questions: list[ProofQuestion], together: bool) -> Iterator[tuple[float, BatchOutcome]]:
    """The seconds that each placement takes, and what came out."""
    for question in questions:
        began = time.process_time()
        outcome = work(FamilyTask(question) if together else alone(question))
        yield time.process_time() - began, outcome


def main() -> None:
    """Print a line for each property and way."""
    sizes = [int(word) for word in sys.argv[1:] if word.isdigit()] or [2, 2]
    ways = (True,) if "together" in sys.argv else (True, False)
    print(
        f"{sizes[0]} pods, {sizes[1]} nodes{'':24}{'clusters':>10}{'violated':>10}{'states':>16}{'differ':>12}{'CPU':>9}"
    )
    for release, fixes, prop in CASES:
        asked = ProofQuestion(EXAMPLE, release, fixes, (), prop)
        questions = [replace(asked, template=t) for t in templates(sizes[0], sizes[1], EXAMPLE)]
        for together in ways:
            found = list(measured(questions, together))
            clusters = [c for _, outcome in found for c in outcome.clusters]
            name = f"{prop} {release}" + "".join(f" + {fix}" for fix in fixes)
            print(
                f"{name + (', together' if together else ', one by one'):<40}{sum(c.regions for c in clusters):>10,}"
                f"{sum(c.regions for c in clusters if c.verdict == 'VIOLATED'):>10,}{sum(c.states for c in clusters):>16,}"
                f"{sum(outcome.distinct for _, outcome in found):>12,}{sum(seconds for seconds, _ in found):>8.1f}s",
                flush=True,
            )


if __name__ == "__main__":
    main()
