"""How a counterexample speaks: words for the model's variables, in the scheduler's own terms.

Only words: what a step does is in the model. A variable without words is shown as it is.
"""

from __future__ import annotations

from ...reports.vocabulary import Vocabulary, Word
from .sentences import FACTS, SENTENCES

_POD = r"\[([^\]]+)\]"

WORDS = (
    # The API server.
    Word(rf"api\.pod{_POD}\.exists", "API server: {0} is created", "API server: {0} is gone", decisive=True),
    Word(rf"api\.pod{_POD}\.node", "API server: {0} is bound to {after}", decisive=True),
    Word(
        rf"api\.pod{_POD}\.nominated",
        "API server: {0} is nominated to {after}",
        "API server: {0} is no longer nominated",
        decisive=True,
    ),
    Word(rf"api\.pod{_POD}\.failed", "API server: {0} gets PodScheduled=False"),
    Word(rf"api\.pod{_POD}\.terminating", "API server: {0} is being deleted", decisive=True),
    Word(
        rf"api\.pod{_POD}\.gated",
        "API server: {0} has scheduling gates",
        "API server: {0} has no scheduling gates any more",
        decisive=True,
    ),
    Word(
        rf"api\.node_exists{_POD}",
        "API server: node {0} is added",
        "API server: node {0} is deleted",
        decisive=True,
    ),
    # Informers.
    Word(rf"pod_watch\.lister{_POD}\.exists", "lister: {0} exists", "lister: {0} is gone"),
    Word(rf"pod_watch\.lister{_POD}\.node", "lister: {0} is bound to {after}"),
    Word(rf"pod_watch\.lister{_POD}\.nominated", "lister: {0} is nominated to {after}"),
    Word(rf"pod_watch\.lister{_POD}\.failed", "lister: {0} has PodScheduled=False"),
    Word(rf"pod_watch\.lister{_POD}\.terminating", "lister: {0} is being deleted"),
    Word(
        rf"pod_watch\.lister{_POD}\.gated",
        "lister: {0} has scheduling gates",
        "lister: {0} has no scheduling gates",
    ),
    Word(rf"node_watch\.lister{_POD}", "lister: node {0} exists", "lister: node {0} is gone"),
    Word(r"(?:pod|node)_watch\..*"),
    # The scheduling cycle.
    Word(rf"scheduler\.verdict{_POD}", "{pod} {after} {0}"),
    Word(r"scheduler\.nominee", "decision: {pod} is to go to {after}", decisive=True),
    Word(r"scheduler\.error", "the attempt to schedule {pod} ends in an error", decisive=True),
    Word(rf"preemption\.victim{_POD}", "victim: {0}"),
    Word(r"(?:scheduler|preemption|async_preemption|sampling|snapshot|binding|failure|handlers|requeue)\..*"),
    Word(
        rf"waiting\.signal{_POD}",
        "waiting pods: {0} {after}",
        "waiting pods: {0} leaves the map",
        decisive=True,
    ),
    Word(r"waiting\..*"),
    # The scheduler's memory.
    Word(
        rf"nominator\.node{_POD}",
        "nominator: {0} is nominated to {after}",
        "nominator: {0} is no longer nominated",
        decisive=True,
    ),
    Word(rf"queue\.sub_queue{_POD}", "queue: {0} is in {after}", "queue: {0} leaves {before}"),
    Word(
        rf"queue\.gated{_POD}",
        "queue: {0} is held back (PreEnqueue)",
        "queue: {0} is held back no more",
    ),
    Word(r"(?:queue|clock)\..*"),
    Word(rf"cache\.pod{_POD}\.node", "cache: {0} is on {after}", "cache: {0} is off {before}"),
    Word(rf"cache\.pod{_POD}\.assumed", "{0} is assumed", decisive=True),
    Word(rf"cache\.live{_POD}", "cache: node {0} is there", "cache: node {0} is gone"),
    Word(r"(?:cache|node_infos|node_tree)\..*"),
    # Bookkeeping of the faults, and of the properties themselves.
    Word(r"(?:faults|users|process)\..*"),
    Word(r"[A-Z]+-[A-Z0-9]+\..*"),
)

SCHEDULER_WORDS = Vocabulary(
    words=WORDS,
    values={
        "ACTIVE": "activeQ",
        "BACKOFF": "backoffQ",
        "UNSCHEDULABLE": "unschedulableQ",
        "FEASIBLE": "fits on",
        "REJECTED": "does not fit on",
        "UNRESOLVABLE": "can never fit on",
        "AWAITED": "waits for permission",
        "ALLOWED": "is allowed",
        "REFUSED": "is rejected",
        "CANDIDATE": "could preempt on",
        "NO_CANDIDATE": "cannot preempt on",
    },
    empty=frozenset({"NONE", "UNTRIED", "IDLE"}),
    sentences=SENTENCES,
    facts=FACTS,
)
"""The words of the scheduler."""
