"""From a counterexample that was executed to a *case*: one JSON object with all that the driver needs to execute it on the real scheduler.

A case has the objects of the cluster, the steps with what each changes in the model, and the whole state in which they begin. Names and values are
those of `podrace explain -o json`. The same counterexample gives the same bytes.
"""

import builtins
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from ..analysis.stored.replayed import Replayed
from ..base.problems import UsageProblem
from ..checker.core.interpreter import Interpreter
from ..checker.core.trace import LassoTrace, Trace, plain_value
from ..checker.reduction.scales_of_time import is_due
from ..model.environment.cluster.placement_rules import NO_WISHES
from ..model.environment.objects import ClusterSpec, ExtensionPoint, Pod
from ..model.history import Composition
from ..model.history.versions import exact
from ..model.history.versions.gates import gates
from ..model.language import TransitionSystem, Universe, Variable
from ..reports.step import Value
from .objects import extender_objects, objects_of, scores_object
from .storage_objects import absent_storage

CHOICE = "scheduler.choose_candidate"
_TIMERS = ("queue.flush_backoff", "queue.flush_unschedulable")

WAITING = "SchedulerAsyncAPICalls"
"""The gate with which a caller of the API server does not wait for the answer; without it the model waits (A-ASYNC-CALLS)."""
GANGS, WORKLOADS = "GangScheduling", "GenericWorkload"
"""The first needs the second, of which the model has nothing of its own."""


class CaseStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """A step: `part.step` with its arguments, who takes it, how much fake time passes before it, and the variables that it changes; of preemption's choice the `rivals`.

    `waiting`: the scheduler waits in Pop meanwhile, and the next step is this Pop.
    """

    step: str
    actor: str
    args: dict[str, Value]
    wait_ms: int
    changes: dict[str, Value]
    rivals: tuple[str, ...] = ()
    waiting: bool = False


class Case(msgspec.Struct, frozen=True):
    """The document. `nodes`, `pods`, `budgets`, `groups` (of pods, each in the kinds of all releases) and `claims` (of `devices`, which are DeviceClasses and ResourceSlices) and `storage` are Kubernetes
    objects, also those that are `absent` at the start.

    `node_versions` are the objects that nodes are updated to, `pod_versions` those of pods. `order` is that of activeQ at the start, `points` are the extension points at which a plugin has work for a pod, `gates` the feature gates that are
    set. `initial` has every variable of the model. Of a run that goes on for ever, the steps from `loop_from` on repeat;
    if no time passes in these it has no `epilogue`: a pod is tried again and again, without backoff, or because an idle scheduler takes who is in backoffQ. The scheduler asks the `extenders`, if there are any.
    `scores` says how nodes are scored, if they are `scored`; `namespaces` and `services` are there where somebody asks for them.
    With `drops_beyond`, handlers are not given the events of writes that the model does not have.
    """

    id: str
    release: str
    property: str
    nodes: list[dict[str, Any]]
    pods: list[dict[str, Any]]
    budgets: list[dict[str, Any]]
    groups: list[list[dict[str, Any]]]
    claims: list[dict[str, Any]]
    devices: list[dict[str, Any]]
    storage: list[dict[str, Any]]
    absent_nodes: list[str]
    absent_pods: list[str]
    absent_claims: list[str]
    absent_devices: list[str]
    absent_storage: list[str]
    absent_groups: list[str]
    order: list[str]
    points: dict[str, list[str]]
    gates: dict[str, bool]
    node_versions: dict[str, dict[str, Any]]
    pod_versions: dict[str, dict[str, Any]]
    backoff: bool
    scored: bool
    initial: dict[str, Value]
    steps: list[CaseStep]
    loop_from: int | None = None
    epilogue: bool = True
    extenders: list[dict[str, Any]] = []
    scores: dict[str, Any] | None = None
    namespaces: list[dict[str, Any]] = []
    services: list[dict[str, Any]] = []
    drops_beyond: bool = False
    format: Literal["podrace-case"] = "podrace-case"
    version: Literal[1] = 1

    @builtins.property
    def last(self) -> dict[str, Value]:
        """The model's state after the steps."""
        state = dict(self.initial)
        for step in self.steps:
            state |= step.changes
        return state


def codes_of(universe: Universe, variable: Variable) -> dict[tuple[type, Value], int]:
    """The codes of a variable's values; see `typed`."""
    shown = {code: universe.decode(variable.sort, code) for code in range(variable.lo, variable.hi + 1)}
    return {typed(plain_value(value)): code for code, value in shown.items()}


def typed(value: Value) -> tuple[type, Value]:
    """A value by which others are told from it: to Python, True is 1."""
    return type(value), value


def case_of(found: Replayed, name: str, waits: Sequence[int] = ()) -> Case:
    """The case of a counterexample that was executed. Raises UsageProblem if its scheduler is none that can be run."""
    run, trace = found.run, found.trace
    if any(pod.extender_selector for pod in run.scenario.spec.pods):
        raise UsageProblem(
            f"{name}: the scheduler that is run has no such extender: remove `extenderSelector`"
        )
    loop = trace.turn if isinstance(trace, LassoTrace) and trace.cycle else None
    return case_of_run(
        name, run.property, run.scenario.spec, run.composition, found.system, trace, waits, loop
    )


def case_of_run(
    name: str,
    identifier: str,
    spec: ClusterSpec,
    composition: Composition,
    system: TransitionSystem,
    trace: Trace,
    waits: Sequence[int] = (),
    loop_from: int | None = None,
) -> Case:
    """The case of any run that was executed: `identifier` is the property that it violates, or empty. `waits` are milliseconds, one for each step."""
    objects = objects_of(spec)
    own = variables_of_model(system)
    initial = {
        variable: plain_value(value)
        for variable, value in system.describe(trace.states[0]).items()
        if variable in own
    }
    interpreter = Interpreter(system)
    choices = [i for i, t in enumerate(system.transitions) if f"{t.part}.{t.step}" == CHOICE]
    steps = [
        CaseStep(
            f"{step.part}.{step.step}",
            step.actor,
            {arg: plain_value(value) for arg, value in step.args},
            waits[number] if waits else 0,
            {c.variable: plain_value(c.after) for c in step.changes if c.variable in own},
            rivals(system, step.transition, interpreter.enabled(trace.states[number], choices))
            if step.transition in choices
            else (),
        )
        for number, step in enumerate(trace.steps)
    ]
    return Case(
        id=name,
        release=exact(composition.release),
        property=identifier,
        nodes=list(objects.nodes),
        pods=list(objects.pods),
        budgets=list(objects.budgets),
        groups=[list(kinds) for kinds in objects.groups],
        claims=list(objects.claims),
        devices=list(objects.devices),
        storage=list(objects.storage),
        absent_nodes=[node.name for node in spec.nodes if not node.exists],
        absent_pods=[pod.name for pod in spec.pods if not pod.exists],
        absent_claims=[claim.name for claim in spec.claims if not claim.exists],
        absent_devices=[device.name for device in spec.devices if not device.exists],
        absent_storage=absent_storage(spec),
        absent_groups=[group.name for group in spec.groups if not group.exists],
        order=order_of(spec, initial, steps),
        points={pod.name: _points(pod) for pod in spec.pods if pod.extension_points},
        gates=_gates(composition),
        node_versions=objects.node_versions,
        pod_versions=objects.pod_versions,
        backoff=spec.scope.backoff,
        scored=spec.scope.config.scored,
        initial=initial,
        steps=steps,
        loop_from=loop_from,
        epilogue=loop_from is None or (spec.scope.backoff and _takes_time(steps[loop_from:])),
        extenders=extender_objects(spec),
        scores=scores_object(spec.scope.config),
        namespaces=list(objects.namespaces),
        services=list(objects.services),
    )


def rivals(system: TransitionSystem, chosen: int, enabled: Iterable[int]) -> tuple[str, ...]:
    """Of preemption's candidates those that the chooser might take as well: the other ways in which the step is possible. The driver takes no other candidate away from the real chooser."""
    nodes = (plain_value(dict(system.transitions[n].args)["node"]) for n in enabled if n != chosen)
    return tuple(map(str, nodes))


def _takes_time(loop: list[CaseStep]) -> bool:
    """Whether time passes in a loop: somebody waits for a timer, or nobody is tried."""
    names = {step.step for step in loop}
    return "scheduler.pop" not in names or not names.isdisjoint(_TIMERS)


def missing_from(found: Replayed, by_name: bool = False) -> tuple[str, ...]:
    """What of the cluster cannot be said in Kubernetes objects; `by_name`: nor to a driver that knows pods by their names."""
    spec = found.run.scenario.spec
    again = [pod for pod in spec.pods if by_name and pod.recreates is not None]
    return (
        *objects_of(spec).missing,
        *(
            f"{pod.name} takes the name of {pod.recreates}, and the driver of this version knows pods by their names"
            for pod in again
        ),
        *(("the driver of this version has no extender",) if by_name and spec.extenders else ()),
        *(
            ("the driver of this version scores by affinity between pods alone",)
            if by_name and spec.scope.config.scored and any(pod.wishes != NO_WISHES for pod in spec.pods)
            else ()
        ),
    )


def variables_of_model(system: TransitionSystem) -> frozenset[str]:
    """The variables of the model, without the memory of properties, and without which timers are due."""
    monitors = {*system.invariants, *system.resettabilities, *system.livenesses}
    own = (v.name for v in system.variables if not is_due(v))
    return frozenset(name for name in own if name.partition(".")[0] not in monitors)


def in_order_of_start(case: Case) -> Case:
    """The case with a start time for each pod, also where none is known of it: of victims that are equally important the model takes the
    scenario's order, and upstream that of the NodeInfo (A-VICTIMS).
    """
    pods = [
        {**pod, "status": {"startTime": f"2100-01-01T00:00:{number:02}Z", **pod["status"]}}
        for number, pod in enumerate(case.pods)
    ]
    return msgspec.structs.replace(case, pods=pods)


def _points(pod: Pod) -> list[str]:
    """The extension points at which the driver's own plugin has work for a pod, in the order in which they are run. VolumeBinding says itself whether it has some at PreBind."""
    own = pod.extension_points - {ExtensionPoint.PRE_BIND} if pod.volumes else pod.extension_points
    return [point.name for point in ExtensionPoint if point in own]


def order_of(spec: ClusterSpec, initial: dict[str, Value], steps: Sequence[CaseStep]) -> list[str]:
    """The pods that wait at the start, the oldest first; where that was open, the one that was taken out of the queue first."""
    waiting = [pod.name for pod in spec.pods if pod.exists and pod.node is None]
    heirs = {pod.recreates: pod.name for pod in spec.pods if pod.recreates is not None}

    def older(one: str, other: str) -> bool:
        return bool(initial.get(f"clock.older[{one}][{other}]")) and not initial.get(
            f"clock.open[{one}][{other}]"
        )

    def age(name: str) -> int:
        return sum(older(other, name) for other in waiting if other != name)

    def taken(name: str) -> int:
        signs = {f"queue.in_flight[{one}]" for one in (name, heirs.get(name, name))}
        return next((i for i, step in enumerate(steps) if signs & step.changes.keys()), len(steps))

    return sorted(waiting, key=lambda name: (age(name), taken(name)))


def _gates(composition: Composition) -> dict[str, bool]:
    """The feature gates that are to be set: what the composition sets, and what brings the real scheduler to where the model is anyway."""
    found = dict(composition.gates)
    if found.get(GANGS):
        found[WORKLOADS] = True
    for gate in gates().values():
        state = gate.at(composition.release)
        if state is None or not state.is_known or state.locked or gate.name in found:
            continue
        if gate.how == "modelled" and gate.is_on(composition.release) and not state.on:
            found[gate.name] = True
        elif gate.name == WAITING and state.on:
            found[gate.name] = False
    return dict(sorted(found.items()))


def format_case(case: Case) -> str:
    """The case as one line."""
    return msgspec.json.encode(case).decode() + "\n"


def format_cases(cases: Sequence[Case]) -> str:
    """A file of cases: one a line."""
    return "".join(map(format_case, cases))
