"""A counterexample made by hand with all that it can be shown with: a write that reaches the cache too late."""

from __future__ import annotations

from podrace.reports.document import Finding, Fixes, ShownChange, ShownStep
from podrace.reports.evidence import (
    Cause,
    Cell,
    Memory,
    NodeShape,
    Picture,
    PodShape,
    ShownChannel,
    ShownCluster,
    ShownCounterfactual,
    ShownFact,
    ShownReader,
    View,
)

CLUSTER = ShownCluster(
    nodes=(NodeShape("n1", {"cpu": 3}), NodeShape("n2", {"cpu": 1})),
    pods=(PodShape("p", {"cpu": 2}, 10), PodShape("q<i>", {"cpu": 2}, 0)),
    pictures=(Picture("as it is", "API", "API"), Picture("as the cache believes", "cache", "wishes")),
)
MEMORY = Memory(
    views=(
        View(
            "API",
            (
                Cell("api.exists[p]", "p", "exists", True),
                Cell("api.node[p]", "p", "node", None),
                Cell("api.exists[q]", "q<i>", "exists", True),
                Cell("api.node[q]", "q<i>", "node", None),
            ),
        ),
        View(
            "cache",
            (
                Cell("cache.node[p]", "p", "node", None),
                Cell("cache.node[q]", "q<i>", "node", None),
                Cell("cache.assumed[q]", "q<i>", "assumed", False),
            ),
        ),
        View("wishes", (Cell("wishes[p]", "p", "nominated", "n1"),)),
        View("line", (Cell("line.place[p]", "p", "place", "NOWHERE"),), key="place", nothing="NOWHERE"),
        View("worker", (Cell("work.on", "the worker", "pod", None),), fleeting=True),
    ),
    channels=(
        ShownChannel(
            "watch",
            Cell("watch.length", "", "length", 0),
            (
                (
                    Cell("watch.log[0].pod", "", "pod", None),
                    Cell("watch.log[0].node", "", "node", None),
                    Cell("watch.log[0].wanted", "", "wanted", False),
                ),
            ),
            "pod",
            "{}",
            (
                ShownReader(
                    "the cache",
                    Cell("watch.next", "", "position", 0),
                    "wanted",
                    Cell("watch.busy", "", "busy", False),
                ),
                ShownReader("the audit", None),
            ),
        ),
    ),
    compared=("exists", "node"),
    facts={
        "node": ShownFact("on {value}", "on no node"),
        "exists": ShownFact("exists", "gone"),
        "assumed": ShownFact("assumed"),
    },
)


def _step(
    number: int, actor: str, part: str, step: str, pod: str, told: str, *changes: ShownChange
) -> ShownStep:
    return ShownStep(number, actor, part, step, {"pod": pod}, f"{step} & go", changes, told)


BIND = _step(
    1, "binder", "binder", "bind", "p", "p is bound to n1.",
    ShownChange("api.node[p]", None, "n1", "API: p is bound to n1", decisive=True),
    ShownChange("watch.length", 0, 1, ""), ShownChange("watch.log[0].pod", None, "p", ""),
    ShownChange("watch.log[0].node", None, "n1", ""), ShownChange("watch.log[0].wanted", False, True, ""),
    ShownChange("work.on", None, "p", ""),
)  # fmt: skip
TAKE = _step(2, "cache", "watch", "take", "p", "", ShownChange("watch.busy", False, True, ""))
ASSUME = _step(
    3, "scheduler", "scheduler", "assume", "q<i>", "",
    ShownChange("cache.node[q]", None, "n1", "cache: q is on n1", decisive=True), ShownChange("cache.assumed[q]", False, True),
    ShownChange("work.on", "p", None, ""),
)  # fmt: skip
TELL = _step(
    2, "cache", "watch", "tell", "p", "The cache is notified of p.",
    ShownChange("cache.node[p]", None, "n1", "cache: p is on n1", decisive=True),
)  # fmt: skip

SHOWN = Finding(
    scenario="late",
    release="1.13",
    fixes=Fixes(),
    property="S-CAP",
    verdict="VIOLATED",
    states=7,
    transitions=9,
    depth=3,
    seconds=0.5,
    trace=(BIND, TAKE, ASSUME),
    words="Violated after 3 steps, and no run is shorter.",
    title="The cache <believes> what was",
    sentence="No node has more on it than it has room for.",
    issues=(1,),
    cluster=CLUSTER,
    memory=MEMORY,
    causes=(Cause(2, 1, ("watch.log[0].pod",)), Cause(3, 1, ("work.on",)), Cause(3, 2, ("watch.busy",))),
    counterfactuals=(ShownCounterfactual(3, (TELL,), 3),),
)
"""p is bound to n1, where the cache, which has not heard of it, lets q<i> go as well."""
