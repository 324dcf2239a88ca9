"""All clusters of one size: how many can be told apart, their states, and the CPU time that all of them take together.

    python bench/family.py [PODS NODES]

By default 2 pods and 2 nodes. Seconds include what it takes to compile (nothing, where an earlier run left it in the cache).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from podrace.analysis.prove.cluster_families import FamilyTask, explore_family
from podrace.analysis.prove.outcomes import BatchOutcome
from podrace.analysis.prove.proof_request import ProofQuestion
from podrace.model.environment.objects import Scope
from podrace.scenarios.template import ClusterTemplate, Limits, templates

CASES = (
    ("1.13", ("72259",), "S-NOMVIS"),
    ("1.14", (), "S-NOM"),
    ("1.36", (), "S-NOM"),
    ("1.36", (), "S-STUCK"),
)
EXAMPLE = ClusterTemplate((), 0, graceful=False, limits=Limits(least_request=1), scope=Scope(pod_events=2))


def measured(questions: list[ProofQuestion]) -> Iterator[tuple[float, BatchOutcome]]:
    """The seconds that each placement takes, and what came out."""
    for question in questions:
        began = time.process_time()
        outcome = explore_family(FamilyTask(question))
        yield time.process_time() - began, outcome


def main() -> None:
    """Print a line for each property."""
    pods, nodes = [int(word) for word in sys.argv[1:]] or [2, 2]
    print(
        f"{pods} pods, {nodes} nodes{'':24}{'clusters':>10}{'violated':>10}{'states':>16}{'differ':>12}{'CPU':>9}"
    )
    for release, fixes, prop in CASES:
        asked = ProofQuestion(EXAMPLE, release, fixes, (), prop)
        questions = [replace(asked, template=t) for t in templates(pods, nodes, EXAMPLE)]
        found = list(measured(questions))
        clusters = [c for _, outcome in found for c in outcome.clusters]
        name = f"{prop} {release}" + "".join(f" + {fix}" for fix in fixes)
        print(
            f"{name:<40}{len(clusters):>10,}"
            f"{sum(c.verdict == 'VIOLATED' for c in clusters):>10,}{sum(c.states for c in clusters):>16,}"
            f"{sum(outcome.distinct for _, outcome in found):>12,}{sum(seconds for seconds, _ in found):>8.1f}s",
            flush=True,
        )


if __name__ == "__main__":
    main()
