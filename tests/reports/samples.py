"""Findings made by hand: one of each verdict."""

from __future__ import annotations

from pathlib import Path

import msgspec

from podrace.reports.document import Finding, Fixes, NoWayBack, ShownChange, ShownLasso, ShownStep

GOLDEN = Path(__file__).parent / "golden"

TRACE = (
    ShownStep(
        1,
        "scheduler",
        "scheduler",
        "pop",
        {"pod": "p"},
        "NextPod: take the head of activeQ",
        (
            ShownChange("queue.sub_queue[p]", "ACTIVE", "NONE", "queue: p leaves activeQ"),
            ShownChange("scheduler.phase", "IDLE", "POPPED", ""),
        ),
    ),
    ShownStep(
        2,
        "scheduler",
        "scheduler",
        "choose",
        {"pod": "p", "node": "n1"},
        "",
        (ShownChange("scheduler.nominee", None, "n1", "decision: p goes to n1", decisive=True),),
    ),
    ShownStep(
        3,
        "binding cycle of a pod",
        "binding",
        "bind",
        {"pod": "q", "ok": True},
        "POST the Binding <first & last>",
        (
            ShownChange("api.node[q]", None, "n1", "API: q is bound to n1", decisive=True),
            ShownChange("mine.seen[q]", False, True),
        ),
    ),
    ShownStep(4, "user", "users", "write", {"pod": "q", "ok": False}, "", (ShownChange("mine.count", 1, 2),)),
)

VIOLATED = Finding(
    scenario="nominated-node-race",
    release="1.13",
    fixes=Fixes(),
    property="S-NOM",
    verdict="VIOLATED",
    states=2_400_000,
    transitions=9_100_000,
    depth=4,
    seconds=1.234,
    trace=TRACE,
    words="Violated after 4 steps, and no run is shorter.",
    expected="VIOLATED",
    title="Another pod takes the room that preemption made",
    sentence="No pod is assumed at the nominated pod's expense.",
    issues=(72124, 74931),
    scope={"pod_events": 4, "node_deletions": 0, "pod_gc": True, "flush": False},
    engine="native",
)

HOLDS = Finding(
    scenario="nominated-node-race",
    release="1.13",
    fixes=Fixes(added=("72259",)),
    property="S-NOM",
    verdict="HOLDS",
    states=1_100,
    transitions=4_000,
    depth=40,
    seconds=0.5,
    words="Holds in every interleaving: 1,100 states, 4,000 transitions, depth 40.",
    expected="HOLDS",
    notes=("1.13 already has 73309",),
    title="Another pod takes the room that preemption made",
    sentence="No pod is assumed at the nominated pod's expense.",
    issues=(72124,),
    scope={"pod_events": 4, "node_deletions": 0, "pod_gc": True, "flush": False},
    constraints_hit=("pod_watch.log: at most 4 entries",),
    witnesses_reached={"preemption chooses a node that another pod may take": 9},
    steps_fired=("scheduler.pop", "scheduler.filter"),
    steps_never_fired=("users.delete_node",),
    engine="native",
)

VACUOUS = Finding(
    scenario="mine",
    release="1.19",
    fixes=Fixes(removed=("77990",)),
    property="S-CAP",
    verdict="HOLDS",
    states=1,
    transitions=0,
    depth=0,
    seconds=0.0,
    words="Holds in every interleaving: 1 state, 0 transitions, depth 0. Vacuous: no step makes a difference to it.",
    witnesses_missed=("a pod is assumed",),
    steps_never_fired=("scheduler.pop",),
    vacuous=True,
)

INCONCLUSIVE = Finding(
    scenario="mine",
    release="1.19",
    fixes=Fixes(),
    property="S-CAP",
    verdict="INCONCLUSIVE",
    states=5_000_000,
    transitions=20_000_000,
    depth=17,
    seconds=61.0,
    words="Stopped by the time limit: no violation within 16 steps, nothing known beyond.",
)

NO_WAY_BACK = Finding(
    scenario="mine",
    release="1.8",
    fixes=Fixes(),
    property="L-ISO",
    verdict="VIOLATED",
    states=819,
    transitions=1_983,
    depth=27,
    seconds=0.4,
    trace=TRACE[:1],
    no_way_back=NoWayBack(states=322, complete=True),
    after=TRACE[1:2],
    cycle=TRACE[2:],
    words="Violated after 1 step: from there, fair steps alone never lead back.",
)

STARVED = Finding(
    scenario="mine",
    release="1.12",
    fixes=Fixes(),
    property="L-PEND",
    verdict="VIOLATED",
    states=41,
    transitions=97,
    depth=12,
    seconds=0.1,
    trace=TRACE[:1],
    lasso=ShownLasso("p waits indefinitely", 1, 3, ("scheduler", "binding cycle of q"), ("user",)),
    cycle=TRACE[1:],
    words="Violated: p waits indefinitely.",
)

AT_ONCE = Finding(
    scenario="mine",
    release="1.8",
    fixes=Fixes(),
    property="S-CAP",
    verdict="VIOLATED",
    states=1,
    transitions=0,
    depth=0,
    seconds=0.0,
    trace=(),
    words="Violated in the initial state.",
)

ALL = [VIOLATED, HOLDS, VACUOUS, INCONCLUSIVE, NO_WAY_BACK, STARVED, AT_ONCE]


def from_json(text: str) -> list[Finding]:
    """The findings in a JSON report; msgspec.ValidationError if it is none."""
    return msgspec.json.decode(text, type=list[Finding])
