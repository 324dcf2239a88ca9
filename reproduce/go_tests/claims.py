"""What a Go test asserts at the end: what must not be, as a user of the cluster or a reader of the queue sees it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...analysis.ask.asked_property import ID as ASK
from ...analysis.ask.asked_property import AskedProperty
from ...analysis.ask.states_meant import property_in
from ...analysis.stored.replayed import Replayed
from ...analysis.systems import system_of
from ...base.structs import Data
from ...checker.core.interpreter import Interpreter
from ...checker.core.trace import plain_value
from ...checker.trace.execution import replay
from ...model.language import Parameter, variables_of
from ...reports.step import Value
from .objects import go_value, quoted


class Claim(Data):
    """The last line of a test, and what it expects, in a sentence."""

    call: str
    expectation: str


def claim_of(found: Replayed) -> Claim | None:
    """What the test of a counterexample asserts; None if there is nothing readable for its property."""
    make = _CLAIMS.get(found.run.property)
    return None if make is None else make(found)


def concerned(found: Replayed) -> tuple[str, ...]:
    """The pods of which the run violates the property, each by itself; empty if its violations are not ones of pods."""
    prop = found.run.prop
    if not prop.concerns:
        return ()
    pods = [pod.name for pod in found.run.scenario.spec.pods]
    return tuple(pod for pod in pods if pod not in prop.silenced and _violates(found, pod))


def _violates(found: Replayed, pod: str) -> bool:
    others = frozenset(p.name for p in found.run.scenario.spec.pods) - {pod}
    system = system_of(replace(found.run, own=found.run.prop.ignoring(others)))
    last = replay(system, found.trace.path).states[-1]
    return not Interpreter(system).holds(system.invariants[found.run.property], last)


def _of_pod(method: str, text: str) -> Callable[[Replayed], Claim | None]:
    """About the first of them that nobody else is preferred to: once that one has the room, others may wait with good reason."""

    def make(found: Replayed) -> Claim | None:
        priorities = {pod.name: _number(pod._priority) for pod in found.run.scenario.spec.pods}
        pods = concerned(found)
        return _claim(method, text, max(pods, key=lambda pod: priorities[pod])) if pods else None

    return make


def _number(priority: int | Parameter) -> int:
    return 0 if isinstance(priority, Parameter) else priority


def _claim(method: str, text: str, pod: str) -> Claim:
    return Claim(f"c.{method}({quoted(pod)})", text.format(pod=pod))


def _values(found: Replayed, at: int = -1) -> dict[str, Value]:
    """The values of all variables in the last state of the run, or in another one."""
    return {name: plain_value(v) for name, v in found.system.describe(found.trace.states[at]).items()}


def _room(found: Replayed) -> Claim | None:
    values = _values(found)
    pods: Sequence[str] = [pod.name for pod in found.run.scenario.spec.pods]
    for pod in pods:
        if values[f"cache.pod[{pod}].assumed"] and not values[f"pod_watch.lister[{pod}].exists"]:
            text = "The deletion of {pod} has been handled, so the cache must not keep room for it."
            return _claim("ExpectNotAssumed", text, pod)
    return None


def _deleted(found: Replayed) -> Claim | None:
    values = _values(found)
    recreated = [t.args["recreation"] for t in found.steps if t.step == "recreate"]
    gone = [str(pod) for pod in recreated if not values[f"api.pod[{pod}].exists"]]
    text = "Preemption decided on the pod that had the name before, so {pod} must not be deleted."
    return _claim("ExpectNotDeleted", text, gone[0]) if gone else None


def _untried(found: Replayed) -> Claim | None:
    values = _values(found)
    recreated = [str(t.args["recreation"]) for t in found.steps if t.step == "recreate"]
    hit = [p for p in recreated if values[f"api.pod[{p}].failed"] or values[f"api.pod[{p}].nominated"]]
    text = (
        "Nobody has tried {pod}: what is said of the pod that had the name before must not be in its status."
    )
    return _claim("ExpectNothingSaidOf", text, hit[0]) if hit else None


def _robbed(found: Replayed) -> Claim | None:
    """About the pod that lost its room, and the one that was assumed there in the last step."""
    before, after = _values(found, -2), _values(found)
    pods = [pod.name for pod in found.run.scenario.spec.pods]
    assumed = [f"cache.pod[{pod}].assumed" for pod in pods]
    takers = [pod for pod, name in zip(pods, assumed, strict=True) if after[name] and not before[name]]
    robbed = [pod for pod in concerned(found) if pod not in takers]
    if not takers or not robbed:
        return None
    text = f"{robbed[0]} was to have the room, and {takers[0]} has no higher priority, so {robbed[0]} must be placed before it."
    return Claim(f"c.ExpectPlacedBefore({quoted(robbed[0])}, {quoted(takers[0])})", text)


def _capacity(_: Replayed) -> Claim:
    return Claim("c.ExpectNoNodeOverfull()", "No node may have more than it can allocate.")


def _asked(found: Replayed) -> Claim:
    """That all moves are made, and what must be there at the end where a state is asked for in words; a property that is violated there is not looked at."""
    assert issubclass(found.run.prop, AskedProperty)
    words = found.run.prop.question.ends
    ends = [
        end
        for asked, end in zip(words, found.run.prop.understood(found.system).ends, strict=True)
        if property_in(asked) is None
    ]
    values = _values(found)
    read = sorted({v.name for v in variables_of(end.where for end in ends)})
    seen = [text for name in read for text in (quoted(name), go_value(values[name]))]
    told = "".join(f" At the end: {end.told}." for end in ends)
    return Claim(
        f"c.ExpectPossible({', '.join(seen)})",
        f"This order is possible, so kube-scheduler makes all of these moves.{told}",
    )


_CLAIMS: dict[str, Callable[[Replayed], Claim | None]] = {
    "S-STUCK": _of_pod("ExpectBoundSoon", "{pod} fits, so it must be bound soon once nobody is held back any more."),
    "S-GHOST": _of_pod("ExpectNotQueued", "{pod} is gone, so it must not be in the scheduling queue."),
    "S-CONS": _of_pod("ExpectQueued", "{pod} waits to be bound, and nobody has it in hand, so it must be in the scheduling queue."),
    "S-UNIQ": _of_pod("ExpectInOnePlace", "{pod} must not be queued while it is being scheduled or bound."),
    "S-FRESH": _of_pod("ExpectQueuedAsKnown", "All events of {pod} have been handled, so the queue must have it as the API server has it."),
    "S-COND": _of_pod("ExpectNotUnschedulable", "{pod} is bound, so it must not be marked as unschedulable."),
    "S-CAP": _capacity,
    "S-PORT": _of_pod("ExpectPortsOfItsOwn", "{pod} must not be bound to a node on which another pod has its host port."),
    "S-ROOM": _room,
    "S-NOM": _robbed,
    "S-NOMVIS": _robbed,
    "S-IDVICTIM": _deleted,
    "S-IDSTATUS": _untried,
    ASK: _asked,
    "S-NOMLIVE": _of_pod("ExpectNotNominated", "{pod} is gone, and its deletion has been handled, so it must not be nominated."),
}  # fmt: skip
