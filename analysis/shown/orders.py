"""Which orders of equal pods a verdict is about: what reality leaves open, and the model explores, or takes from the scenario."""

from collections.abc import Iterable
from itertools import combinations

from ...model.environment.cluster.scope import Scope
from ...model.environment.objects import ClusterSpec, Pod
from ...model.history.changes.cache.node_tree import IteratedTree
from ...model.history.changes.preemption.preemption import EveryBudgetIsSpent
from ...model.history.changes.queue.event_handlers import StoresSuffice
from ...model.language import Parameter
from ...model.scheduler.cache.order import zone_key
from ...reports.step import Value

ANY, LISTED, ARRIVED = "in any order", "in the order of the file", "in the order of their arrival"
WAITING, VICTIMS, MEMBERS = "pods that wait alike", "equal victims", "equal members of groups"
TIMED = "pods with a creationTimestamp"
NODES, BUDGETS, EVENTS = "nodes at the start", "budgets of one pod", "events of a new list"


def orders_of(spec: ClusterSpec, classes: Iterable[type] = ()) -> dict[str, Value]:
    """For each kind of pods that nothing tells apart, in which orders they are taken; kinds of which there are not two have no entry. `classes` are those of the scheduler.

    Arrivals are those of pods that wait at the start, or are found by a new process; they are explored, unless `file_order` or times of creation ask for one. The
    order of victims that are equally important (A-VICTIMS) and of equal members of a group (A-GROUP-ORDER) is always the scenario's, and so is that
    of the nodes that are there at the start (A-NODE-ORDER), which is named where a cycle may leave nodes out, that of
    the budgets of a pod that has several (A-BUDGETS), and that of the events which a list gives after an interrupted watch or, up to 1.27, a restart (A-RELIST).
    """
    found: dict[str, Value] = {}
    scope = spec.scope
    relisted = scope.restarts or scope.leader_changes
    waiting = [
        pod for pod in spec.pods if not pod.foreign and (relisted or (pod.exists and pod.node is None))
    ]
    equals = [(a, b) for a, b in combinations(waiting, 2) if _are_equal(a, b)]
    if any(relisted or a.arrival == b.arrival for a, b in equals):
        found[WAITING] = LISTED if scope.file_order else ANY
    if any(a.arrival != b.arrival for a, b in equals):
        found[TIMED] = "in its order"
    for name, some in ((VICTIMS, _victims(spec)), (MEMBERS, _members(spec))):
        if any(some):
            found[name] = LISTED
    if _nodes_come_in_turn(spec, classes):
        found[NODES] = LISTED
    if _budgets_are_asked_in_turn(spec, classes):
        found[BUDGETS] = LISTED
    if _lists_come(scope, classes) and max(len(spec.pods), len(spec.nodes)) > 1:
        found[EVENTS] = LISTED
    return found


def orders_of_all(scope: Scope, classes: Iterable[type], groups: bool) -> dict[str, Value]:
    """The same for all clusters with this scope, in every order of arrival; `groups`: there are groups of pods."""
    members = {MEMBERS: ARRIVED} if groups else {}
    return {VICTIMS: ARRIVED, **members, **({EVENTS: ARRIVED} if _lists_come(scope, classes) else {})}


def _nodes_come_in_turn(spec: ClusterSpec, classes: Iterable[type]) -> bool:
    """Whether a cycle may leave nodes out, because the tree goes on where it stopped, in several zones."""
    zones = {zone_key(node.labels) for node in spec.nodes}
    several = len(zones) > 1 and sum(node.exists for node in spec.nodes) > 1
    return several and any(issubclass(cls, IteratedTree) for cls in classes)


def _budgets_are_asked_in_turn(spec: ClusterSpec, classes: Iterable[type]) -> bool:
    """Whether preemption stops at the first budget of a victim that has no room for it, which upstream may be any."""
    every_one = any(issubclass(cls, EveryBudgetIsSpent) for cls in classes)
    return not every_one and any(sum(b.selects(pod) for b in spec.budgets) > 1 for pod in spec.pods)


def _lists_come(scope: Scope, classes: Iterable[type]) -> bool:
    """Whether a list may give the handlers what they make several events of."""
    by_restart = scope.restarts and any(issubclass(cls, StoresSuffice) for cls in classes)
    return bool(scope.relists or by_restart)


def _are_equal(a: Pod, b: Pod) -> bool:
    """Whether the two may have one priority."""
    (least, most), (other_least, other_most) = _priorities(a), _priorities(b)
    return least <= other_most and other_least <= most


def _priorities(pod: Pod) -> tuple[int, int]:
    """The least and the highest priority that the pod may have."""
    priority = pod.quantities[-1]
    return (priority.lo, priority.hi) if isinstance(priority, Parameter) else (priority, priority)


def _victims(spec: ClusterSpec) -> Iterable[bool]:
    for a, b in combinations(spec.pods, 2):
        if _are_equal(a, b) and a.start == b.start:
            yield any(_may_preempt(pod, a) for pod in spec.pods if pod not in (a, b))


def _may_preempt(pod: Pod, victim: Pod) -> bool:
    return pod.preempts and pod.node is None and _priorities(victim)[0] < _priorities(pod)[1]


def _members(spec: ClusterSpec) -> Iterable[bool]:
    for a, b in combinations(spec.pods, 2):
        yield a.group is not None and a.group == b.group and _are_equal(a, b)
