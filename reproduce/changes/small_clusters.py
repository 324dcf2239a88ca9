"""Small clusters in which an upstream change may matter: few pods in few ways, each with one kind of fault or of users' updates beside a deletion.

The scenarios of the catalogue have what their race needs in the release that it was found in. In a later one a change may matter only together with something else.
"""

from collections.abc import Iterator, Sequence

from ...analysis.request.plan import SAFETY
from ...model.history import CHANGES
from ...properties import PROPERTIES
from ...scenarios import Scenario, parse_scenario
from ..random_runs.varied_clusters import FAULTS
from .replays import CALLED, Question, mentioned, nearness

_POINTS = {"plugin_errors": "preBind", "permit_rejections": "permit"}
"""At which extension point a pod needs a plugin for a fault to strike it."""

UPDATES = ("", "pod_updates", *(fault for fault in FAULTS if fault != "pod_deletions"))
"""What may happen once beside the deletion of a pod."""

_VICTIM = "v: {cpu: 2, priority: 0, nodeName: n1, terminationGracePeriodSeconds: 0}"

PODS: tuple[tuple[str, ...], ...] = (
    (_VICTIM, "p: {cpu: 2, priority: 10}"),
    ("p: {cpu: 2, priority: 0}", "q: {cpu: 2, priority: 10}"),
    (_VICTIM, "p: {cpu: 2, priority: 10}", "q: {cpu: 1, priority: 10}"),
)
"""A preemptor with its victim, two pods of which one fits, and a preemptor with a rival; all on one node or two."""

_WAITS = (_VICTIM, "b: {cpu: 2}")
"""A pod that waits for the room of another."""

_RIVALS = ("a: {cpu: 2}", "b: {cpu: 2}")
"""Two pods of which one waits while the other is being bound."""

_ONCE = {
    "pod_creations": ("b: {cpu: 2, exists: false}",),
    "finishes": _WAITS,
    "permit_rejections": _RIVALS,
    "bind_failures": _RIVALS,
    "write_failures": PODS[0],
    "status_failures": PODS[0],
}
"""In which pods what may happen or fail once. A pod that is created finds an idle scheduler, which waits in Pop."""

_ONE_FOR_TWO = {
    "scheduler.volumebinding.": """\
name: one-volume-for-two
nodes: {n1: {cpu: 2}}
storageClasses: {c: {volumeBindingMode: WaitForFirstConsumer}}
volumes: {v1: {storageClassName: c, nodes: [n1]}}
volumeClaims: {ca: {storageClassName: c}, cb: {storageClassName: c}}
pods:
  a: {cpu: 1, volumes: [ca], extensionPoints: [permit]}
  b: {cpu: 1, volumes: [cb], extensionPoints: [permit]}
scope: {pod_events: 2, file_order: true, flush: false, permit_rejections: 1}
""",
    "scheduler.dynamicresources.": """\
name: one-device-for-two
nodes: {n1: {cpu: 2}}
devices: {d1: {node: n1}}
resourceClaims: {ca: {}, cb: {}}
pods:
  a: {cpu: 1, resourceClaims: [ca], extensionPoints: [permit]}
  b: {cpu: 1, resourceClaims: [cb], extensionPoints: [permit]}
scope: {pod_events: 2, claim_events: 2, file_order: true, flush: false, permit_rejections: 1}
""",
}
"""By a part of the model: two pods want the one thing that it gives away, and a Permit plugin may refuse one of them. What is not given back keeps the other out."""

FILE = "small.yaml"
"""What the file of one is called."""

SECONDS = 10.0
"""How long a property is searched for in one of them."""


def known_fixes(scenarios: Sequence[Scenario], elements: Sequence[str]) -> Iterator[Question]:
    """The small clusters without each upstream change of these elements: what the model has then, and has not with it.

    First for the properties of the scenarios that name the change, then for all that finitely many steps violate.
    """
    ranks = {key: nearness(key, elements) for key in CHANGES}
    near = sorted((key for key, rank in ranks.items() if rank <= CALLED), key=lambda key: ranks[key])
    about = {
        key: dict.fromkeys(name for one in scenarios if [*mentioned(one, [key])] for name in one.properties)
        for key in near
    }
    safety = [name for name, cls in PROPERTIES.items() if cls.kind in SAFETY]
    clusters = list(small_clusters())
    for part in (clusters[: len(UPDATES)], clusters[len(UPDATES) :]):
        for one in part:
            yield from (
                Question(one, (key,), (), SECONDS, tuple(about[key]), True) for key in near if about[key]
            )
        for one in part:
            for key in near:
                names = tuple(name for name in safety if name not in about[key])
                yield Question(one, (key,), (), SECONDS, names, True)


def smallest_clusters(elements: Sequence[str] = ()) -> Iterator[Scenario]:
    """Those in which only a pod may be deleted, be created or end, or a binding or an eviction may fail: little hides there what a change does. First those that these elements are about."""
    shared = [text for part, text in _ONE_FOR_TWO.items() if any(e.startswith(part) for e in elements)]
    deleted = [_text(pods, "") for pods in (_WAITS, *PODS)]
    once = [_text(pods, update, deletions=0) for update, pods in _ONCE.items()]
    yield from (parse_scenario(text, FILE) for text in (*shared, *deleted, *once))


def small_clusters() -> Iterator[Scenario]:
    """All of them, the smallest first."""
    for pods in PODS:
        for update in UPDATES:
            yield parse_scenario(_text(pods, update), FILE)


def _text(pods: tuple[str, ...], update: str, deletions: int = 1) -> str:
    names = " and ".join(pod.partition(":")[0] for pod in pods)
    scope = {"pod_events": "2", "node_events": "2", "flush": "false", "pod_deletions": f"{deletions}"}
    nodes = ["n1: {cpu: 2}"]
    if update and update != "finishes":
        scope[update] = "1"
    if update == "node_creations":
        nodes.append("n2: {cpu: 2, exists: false}")
    more = {"pod_updates": ", updates: {later: {labels: {app: x}}}"}.get(update, "")
    if update in _POINTS:
        more = f", extensionPoints: [{_POINTS[update]}]"
    ends = ", finishes: true" if update == "finishes" else ""
    rows = [f"{row[:-1]}{ends if 'nodeName' in row else more}}}" for row in pods]
    return "\n".join(
        [
            f"name: {'-'.join([*names.split(' and '), update or 'deleted']).replace('_', '-')}",
            "nodes:", *(f"  {node}" for node in nodes),
            "pods:", *(f"  {row}" for row in rows),
            f"scope: {{{', '.join(f'{name}: {value}' for name, value in scope.items())}}}", "",
        ]
    )  # fmt: skip
