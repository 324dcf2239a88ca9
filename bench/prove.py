"""All clusters of one size: how many there are and how many are left to search, how long it takes to tell them apart and to
explore them, and what two processes gain over one, in the same run.

    python bench/prove.py [PODS] [NODES]

3 pods and 2 nodes take minutes; by default it is 2 pods and 2 nodes.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

from podrace.analysis.prove.cluster_batches import Task, work
from podrace.analysis.prove.proof_request import ProofQuestion
from podrace.checker.jobs import Here, Job, Processes, run_jobs
from podrace.checker.parametric.parametric_system import Regions
from podrace.model.environment.objects import Scope
from podrace.scenarios.template import ClusterTemplate, Limits, templates

CASES = (
    ("1.13", ("72259",), "S-NOMVIS"),
    ("1.14", (), "S-NOM"),
    ("1.19", (), "S-NOM"),
    ("1.22", (), "S-CAP"),
)
EXAMPLE = ClusterTemplate((), 0, graceful=False, limits=Limits(least_request=1), scope=Scope(pod_events=2))
CHUNK = 20


def jobs(question: ProofQuestion, pods: int, nodes: int) -> list[Job]:
    """All clusters of exactly this size."""
    found = []
    for template in templates(pods, nodes, EXAMPLE):
        asked = replace(question, template=template)
        parametric = asked.parametric_system()
        regions = Regions(parametric, question.property)
        ranges = tuple(regions.ranges[q] for q in parametric.parameters)
        members = [
            (tuple(r.values[q] for q in parametric.parameters), r.regions) for r in regions.representatives
        ]
        for start in range(0, len(members), CHUNK):
            task = Task(asked, ranges, tuple(members[start : start + CHUNK]))
            found.append(Job(f"{template} #{start}", task))
    return found


def main() -> None:
    """Print one line for each property."""
    pods, nodes = (int(word) for word in (*sys.argv[1:3], *("2", "2")[len(sys.argv) - 1 :]))
    print(
        f"{pods} pods, {nodes} nodes{'clusters':>29}{'searched':>10}{'enumerated':>12}{'states':>14}{'1 process':>11}{'2':>9}{'ratio':>7}"
    )
    for release, fixes, prop in CASES:
        question = ProofQuestion(EXAMPLE, release, fixes, (), prop)
        began = time.perf_counter()
        todo = jobs(question, pods, nodes)
        told = time.perf_counter() - began
        seconds = []
        states: set[int] = set()
        for pool in (Here(), Processes(2)):
            began = time.perf_counter()
            states.add(sum(c.states for _, result in run_jobs(work, todo, pool) for c in result.clusters))
            seconds.append(time.perf_counter() - began)
        assert len(states) == 1, "one process and two disagree"
        clusters = sum(regions for job in todo for _, regions in job.task.members)
        searched = sum(len(job.task.members) for job in todo)
        name = f"{prop} {release}" + "".join(f" + {fix}" for fix in fixes)
        print(
            f"{name:<34}{clusters:>12,}{searched:>10,}{told:>11.1f}s{states.pop():>14,}{seconds[0]:>10.1f}s{seconds[1]:>8.1f}s"
            f"{seconds[0] / seconds[1]:>7.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
