"""The parts of a scenario that can act, each with the steps that stand for it: what a verdict says when one of them never took a step.

Nobody lists the steps: which stand for an option of the scope is found by taking the option away, which for an object or an updated version by what steps write, and which for a
controller or an extender by their arguments.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from .environment import objects
from .environment.cluster.node_health import health_of, statuses_of
from .environment.cluster.node_versions import NodeVersion, versions_in
from .environment.cluster.owned_pods import Owned, Owner
from .environment.cluster.pod_versions import PodVersion
from .environment.cluster.scope import BOUNDS
from .environment.controllers.descheduler import Strategy
from .environment.extender import HTTPExtender
from .environment.faults import SECTIONS, Fault
from .environment.gates import GateKeeper
from .environment.storage.csi_nodes import CsiLimit
from .environment.storage.device_slices import DeviceSlice
from .language import Entity, Expr, ModelError, Transition, TransitionSystem, Universe, Variable, substitute
from .language.declarations.component import Model
from .language.declarations.tracer import NeverEnabled, StepTrace, tracing
from .language.expressions.expr import const, fresh_graph, parameter, variable
from .language.systems.remembering import concerns
from .language.systems.telling import Address
from .scheduler.other_scheduler import ForeignPod

TRUTHS: Mapping[type[Entity], tuple[str, str]] = {
    objects.Node: ("api.node_exists", "node {}, which is to join"),
    objects.Pod: ("api.pod.exists", "pod {}, which is to come"),
    objects.Volume: ("storage.volume.exists", "volume {}, which is to come"),
    objects.VolumeClaim: ("storage.claim.exists", "claim {}, which is to come"),
    objects.Claim: ("resource_claims.object.life", "claim {}, which is to come"),
    DeviceSlice: ("device_slices.published", "device {}, which is to be published"),
    CsiLimit: ("csi_nodes.updated", "the CSINode's limit of {}, which is to change"),
    objects.PodGroup: ("pod_groups.exists", "group {}, which is to come"),
}
"""For each kind of objects that may come later, the state that says that one is there, and how it is called until then."""

ACTORS: Mapping[type[Entity], str] = {
    Owner: "the controller of {}",
    Strategy: "the descheduler's {}",
    GateKeeper: "gate keeper {}",
    HTTPExtender: "{}",
    ForeignPod: "the second scheduler, for {}",
}
"""Kinds of those who act by themselves, and how they are called."""

WITHIN_OTHERS = (HTTPExtender, ForeignPod)
"""Those of them that act within the steps of others, too."""

VIEWS = tuple(name for name, bound in BOUNDS.items() if bound.least == 1)
"""Bounds of the scope that let nothing happen: how far views may lag."""

_HOME = str(Path(__file__).parents[1])


Part = tuple[str, tuple[int, ...]]
"""A part of a scenario that can act: its name in words, and the numbers of the transitions by one of which it does."""


def asked_for(system: TransitionSystem) -> dict[str, tuple[int, ...]]:
    """The parts of the scenario that a system was traced from, each with the numbers of its transitions: the scope, objects that may come, updates,
    actors, steps of the user's own.

    Nothing, where the model is not at hand.
    """
    model = system.explainer.model
    if model is None or not isinstance(model.entities.scope, objects.Scope):
        return {}
    with fresh_graph():
        parts = [
            *_options(model, system),
            *_objects(system),
            *_unused(system.universe),
            *_updates(system),
            *_actors(system),
            *_own(system),
        ]
    return dict(parts)


# --- options of the scope ------------------------------------------------------------------------------------


def _options(model: Model, system: TransitionSystem) -> Iterator[Part]:
    """What is on in the scope and is not by default. An option that is no fault and without steps of its own only changes how others act."""
    scope, usual = model.entities.scope, objects.Scope()
    wanted = [
        n
        for n, b in BOUNDS.items()
        if n not in VIEWS and not b.choices and getattr(scope, n) not in (getattr(usual, n), 0)
    ]
    if not wanted:
        return
    found: dict[str, list[int]] = {name: [] for name in wanted}
    numbers: dict[tuple[str, str], list[int]] = {}
    for number, transition in enumerate(system.transitions):
        numbers.setdefault((transition.part, transition.step), []).append(number)
    for step, of_step in numbers.items():
        for option in system.explainer.bounds.get(step, frozenset()).intersection(wanted):
            less = replace(scope, **{option: type(getattr(scope, option))()})
            if not _runs(model, system.transitions[of_step[0]], less):
                found[option] += of_step
    faults = {kind.value: _spending(system, kind) for kind in Fault}
    for name, transitions in found.items():
        if transitions or name in faults:
            acting = sorted({*transitions, *faults.get(name, ())})
            yield name.replace("_", " "), tuple(acting)
    for name in faults:
        for target in _targets(system, scope.aimed(name)):
            striking = [i for i in faults[name] if _is_about(system.transitions[i], target)]
            yield f"{name.replace('_', ' ')} of {target.name}", tuple(striking)


def _targets(system: TransitionSystem, aims: Mapping[str, Sequence[str]]) -> list[Entity]:
    """The objects that a kind of fault is aimed at, if they are several: of one, the fault itself says it."""
    found = [
        e for section, names in aims.items() for e in system.universe[SECTIONS[section]] if e.name in names
    ]
    return found if len(found) > 1 else []


def _is_about(transition: Transition, entity: Entity) -> bool:
    return any(concerns(value, entity) for _, value in transition.args)


def _spending(system: TransitionSystem, kind: Fault) -> list[int]:
    """The transitions that are a fault of this kind, as they take one of those that are left."""
    left = {v for v in system.variables if _is_left(system, v, kind)}
    return [i for i, transition in enumerate(system.transitions) if not left.isdisjoint(transition.updates)]


def _is_left(system: TransitionSystem, variable_: Variable, kind: Fault) -> bool:
    address = system.narration.addresses.get(variable_.name)
    return address is not None and address.state == "faults.left" and address.keys == (kind,)


def _runs(model: Model, transition: Transition, scope: objects.Scope) -> bool:
    """Whether the step can run in some state where this were the scope, as far as its own text says so."""
    kept, model.entities.scope = model.entities.scope, scope
    try:
        with tracing(StepTrace(stops=True)):
            part = model.parts[transition.part]
            getattr(part, transition.step)(*(value for _, value in transition.args))
    except NeverEnabled:
        return False
    except (ModelError, ValueError, LookupError):  # its text is for scopes that the reader accepts
        return True
    finally:
        model.entities.scope = kept
    return True


# --- objects, their versions, and who acts -------------------------------------------------------------------


def _objects(system: TransitionSystem) -> Iterator[Part]:
    for variable_, entity in _truths(system):
        if variable_.initial == 0 and not getattr(entity, "exists", True):
            may = partial(_may_become, variable_)
            found = [i for i, t in enumerate(system.transitions) if variable_ in t.updates and may(t)]
            yield TRUTHS[type(entity)][1].format(entity.name), tuple(found)


def _unused(universe: Universe) -> Iterator[Part]:
    """Objects that are about pods, and about no pod of the scenario; what of a pod, or a node, nobody looks at."""
    pods = [form for pod in universe[objects.Pod] for form in (pod, *pod.later.values())]
    claims = {name for pod in pods for name in pod.claims}
    mounted = {name for pod in pods for name in pod.volumes}
    groups = {pod.group for pod in pods} | {group.parent for group in universe[objects.PodGroup]}
    yield from ((name, ()) for pod in universe[objects.Pod] for name in _unheeded(universe, pod))
    nodes, scope = universe[objects.Node], universe.scope
    marked = any(health_of(node).marks for node in nodes)
    if scope.node_lifecycle and len(statuses_of(nodes, scope)) == 1 and not marked:
        yield "node lifecycle controller, as every node is ready and stays so", ()
    for claim in universe[objects.Claim]:
        if claim.name not in claims and not claim.reserved:
            yield f"claim {claim.name}, to which no pod refers", ()
    for device in universe[objects.Device]:
        if all(device.of not in [w.of for w in claim.wishes] for claim in universe[objects.Claim]):
            yield f"device {device.name}, for which no claim asks", ()
    for volume_claim in universe[objects.VolumeClaim]:
        if volume_claim.name not in mounted:
            yield f"volume claim {volume_claim.name}, to which no pod refers", ()
    for group in universe[objects.PodGroup]:
        if group.name not in groups:
            yield f"group {group.name}, to which no pod belongs", ()
    for budget in universe[objects.DisruptionBudget]:
        if not any(budget.selects(pod) for pod in universe[objects.Pod]):
            yield f"budget {budget.name}, which selects no pod", ()


def _unheeded(universe: Universe, pod: objects.Pod) -> Iterator[str]:
    """What of a pod decides nothing. One that is bound is scheduled again if a controller makes it."""
    scope = universe.scope
    owned = pod.name in {owned.pod.name for owned in universe[Owned]}
    if pod.node is not None and not owned:
        if pod.extension_points and not pod.volumes:  # VolumeBinding's are not asked for
            yield f"extension points of {pod.name}, which is bound"
        if pod.extender_selector:
            yield f"extender selector of {pod.name}, which is bound"
        if pod.finalizers and not scope.bound_finalizers:
            yield f"finalizers of {pod.name}, which is bound, without bound_finalizers"
    brief = any(t.seconds is not None for form in (pod, *pod.later.values()) for t in form.tolerations)
    if brief and not scope.taint_eviction:
        yield f"tolerationSeconds of {pod.name}, without taint_eviction"


def _truths(system: TransitionSystem) -> Iterator[tuple[Variable, Entity]]:
    for variable_ in system.variables:
        address = system.narration.addresses.get(variable_.name)
        if address is None or len(address.keys) != 1:
            continue
        known = TRUTHS.get(type(address.keys[0]))
        if known is not None and known[0] == address.state:
            yield variable_, address.keys[0]


def _may_become(of: Variable, transition: Transition) -> bool:
    """Whether the transition can make something of a variable that is zero."""
    new, guard = transition.updates[of], transition.guard

    def leaf(node: Expr) -> Expr:
        if node.op == "const":
            return const(node.sort, node.value)
        if node.op == "param":
            return parameter(node.value)
        return const(of.sort, 0) if node.value is of else variable(node.value)

    made = substitute([new, guard], leaf)
    return not any(made[e].is_const and made[e].value == 0 for e in (new, guard))


def _updates(system: TransitionSystem) -> Iterator[Part]:
    """The versions that a scenario gives to nodes and pods, but for those that a controller makes of a node by its health."""
    universe = system.universe
    kinds = (PodVersion,) if universe.scope.node_lifecycle else (NodeVersion, PodVersion)
    writes: dict[Entity, set[int]] = {}
    for number, transition in enumerate(system.transitions):
        for variable_, new in transition.updates.items():
            address = system.narration.addresses.get(variable_.name)
            for version in _written(universe, address, new) if address is not None else ():
                writes.setdefault(version, set()).add(number)
    nodes = universe[NodeVersion] if NodeVersion in kinds else ()
    later = [v for v in nodes if v is not versions_in(universe, v.node)[0]]
    for version in (*later, *(v for v in universe[PodVersion] if v.number)):
        yield f"update {version.name}", tuple(sorted(writes.get(version, ())))


def _written(universe: Universe, address: Address, new: Expr) -> Iterator[Entity]:
    """The later versions that a new value may stand for, if the variable is the version of an object in the API server."""
    if address.state == "api.node_version":
        yield from (universe[NodeVersion][code - 1] for code in _constants(new) - {0})
    elif address.state == "api.pod.version":
        codes = _constants(new) - {0}
        yield from (v for v in universe[PodVersion] if v.pod is address.keys[0] and v.number in codes)


def _constants(new: Expr) -> set[int]:
    """The constants that an assigned value may be."""
    found, waiting, seen = set[int](), [new], set[Expr]()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.op == "const":
            found.add(node.value)
        elif node.op == "ite":
            waiting += node.args[1:]
    return found


def _actors(system: TransitionSystem) -> Iterator[Part]:
    for kind, words in ACTORS.items():
        for entity in system.universe[kind]:
            found = [i for i, transition in enumerate(system.transitions) if _is_about(transition, entity)]
            if found or kind not in WITHIN_OTHERS:
                yield words.format(entity.name), tuple(found)


def _own(system: TransitionSystem) -> Iterator[Part]:
    """The steps that a patch or a property of the user's own brings."""
    found: dict[str, list[int]] = {}
    for number, transition in enumerate(system.transitions):
        if not transition.location[0].startswith(_HOME):
            found.setdefault(f"{transition.part}.{transition.step}", []).append(number)
    for name, numbers in found.items():
        yield f"step {name} of your own", tuple(numbers)
