"""The safety properties on small clusters, release by release: exact counts, both verdicts, nothing vacuous."""

from __future__ import annotations

import pytest

from podrace.checker.search import check
from podrace.model.environment.objects import ClusterSpec, DisruptionBudget, Node, Pod, Scope, Selector, Term
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument

ONE = (Node(0, "n", 2),)
TWO = (Node(0, "m", 2), Node(1, "n", 2))
APART = [Term({"app": "x"}, "kubernetes.io/hostname", required=True, anti=True)]
WEB = {"app": "x"}

CLUSTERS = {
    "two pods, a bind may fail, one is deleted": ClusterSpec(
        "simple",
        (Pod(0, "p", 2), Pod(1, "q", 1)),
        ONE,
        Scope(pod_events=2, bind_failures=1, pod_deletions=1, flush=False),
    ),
    "a preemptor is deleted": ClusterSpec(
        "phantom",
        (Pod(0, "v", 2, 0, node=ONE[0], graceful=False), Pod(1, "p", 2, 10)),
        ONE,
        Scope(pod_events=2, pod_deletions=1, flush=False),
    ),
    "preemption for one of two": ClusterSpec(
        "preemption",
        (Pod(0, "v", 2, 0, node=ONE[0], graceful=False), Pod(1, "p", 2, 10), Pod(2, "q", 1, 10)),
        ONE,
        Scope(pod_events=2, flush=False),
    ),
    "a node goes and comes back": ClusterSpec(
        "nodes",
        (Pod(0, "x", 1, node=TWO[1]), Pod(1, "p", 1)),
        TWO,
        Scope(pod_events=2, node_deletions=1, node_creations=1, pod_gc=False, flush=False),
    ),
    "two pods apart, a reply is lost": ClusterSpec(
        "apart",
        (Pod(0, "a", 1, labels=WEB, terms=APART), Pod(1, "b", 1, labels=WEB, terms=APART)),
        TWO,
        Scope(pod_events=2, lost_replies=1, flush=False),
    ),
    "two preemptors, one budget": ClusterSpec(
        "budget",
        (
            Pod(0, "v", 1, 0, node=TWO[0], labels=WEB, graceful=False),
            Pod(1, "w", 1, 0, node=TWO[1], labels=WEB, graceful=False),
            Pod(2, "p", 2, 10),
            Pod(3, "q", 2, 10),
        ),
        TWO,
        Scope(pod_events=3, flush=False),
        (DisruptionBudget(0, "b", Selector(WEB), 1),),
    ),
}

ROWS = [
    # A pod in flight that is updated goes into activeQ as well (118226); it is so in every release here.
    ("S-UNIQ", "two pods, a bind may fail, one is deleted", "1.13", (), "VIOLATED", 1180, 12),
    ("S-UNIQ", "two pods, a bind may fail, one is deleted", "1.22", (), "VIOLATED", 16281, 23),
    ("S-UNIQ", "two pods apart, a reply is lost", "1.19", (), "HOLDS", 97019, None),
    ("S-UNIQ", "two pods apart, a reply is lost", "1.22", (), "HOLDS", 36547, None),
    # Between the look into the lister and the requeue a deletion can still be handled.
    ("S-GHOST", "two pods, a bind may fail, one is deleted", "1.13", (), "VIOLATED", 1864, 13),
    ("S-GHOST", "two pods, a bind may fail, one is deleted", "1.22", (), "VIOLATED", 2407, 13),
    ("S-BIND", "two pods, a bind may fail, one is deleted", "1.22", (), "HOLDS", 52775, None),
    ("S-NOMLIVE", "a preemptor is deleted", "1.19", (), "VIOLATED", 301, 13),
    ("S-NOMLIVE", "a preemptor is deleted", "1.21", (), "VIOLATED", 222, 12),
    ("S-NOMLIVE", "a preemptor is deleted", "1.21", ("102498", "109245"), "HOLDS", 4492, None),
    # Once the preemptor is bound, a further attempt nominates it (109236).
    ("S-NOMLIVE", "a preemptor is deleted", "1.22", (), "VIOLATED", 2803, 39),
    ("S-NOMLIVE", "a preemptor is deleted", "1.22", ("109245",), "HOLDS", 2814, None),
    pytest.param(
        "S-GAIN", "preemption for one of two", "1.13", (), "VIOLATED", 888177, 51, marks=pytest.mark.ci
    ),
    ("S-GAIN", "preemption for one of two", "1.22", (), "HOLDS", 11733, None),
    ("S-SNAP", "a node goes and comes back", "1.9", (), "VIOLATED", 82, 5),
    ("S-SNAP", "a node goes and comes back", "1.9", ("node-list-from-cache",), "HOLDS", 457, None),
    ("S-SNAP", "a node goes and comes back", "1.22", (), "HOLDS", 525, None),
    ("S-CACHE", "a node goes and comes back", "1.22", (), "HOLDS", 12, None),
    # Open upstream: a bind that was reported as failed but was committed (100140).
    ("S-AFF", "two pods apart, a reply is lost", "1.22", (), "VIOLATED", 2331, 14),
    # Open upstream: a budget's status is stale while victims are chosen (91492).
    ("S-PDB", "two preemptors, one budget", "1.22", (), "VIOLATED", 1095, 22),
]


@pytest.mark.parametrize(("name", "cluster", "release", "fixes", "verdict", "states", "steps"), ROWS)
def test_verdict_and_counts(name, cluster, release, fixes, verdict, states, steps):
    classes = resolve(release, fixes).classes
    (found,) = check(instrument(CLUSTERS[cluster], classes, [PROPERTIES[name]]), [name])
    assert (found.verdict.name, found.counts.states) == (verdict, states)
    assert (None if found.trace is None else len(found.trace.steps)) == steps
    assert not found.vacuous
