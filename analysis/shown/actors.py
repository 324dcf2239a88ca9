"""Who acts in a cluster beside the scheduler, in sentences: controllers of pods, the descheduler, gate keepers, an extender, other schedulers, autoscalers."""

from collections.abc import Iterator, Sequence

from ...base.text import counted, listed
from ...model.environment.cluster.workloads import (
    ExtenderSpec,
    KeeperSpec,
    OwnerKind,
    OwnerSpec,
    StrategySpec,
)
from ...model.environment.objects import ClusterSpec, Scope


def actors_of(spec: ClusterSpec) -> tuple[str, ...]:
    """A sentence for each that the scenario has."""
    return tuple(_sentences(spec))


def _sentences(spec: ClusterSpec) -> Iterator[str]:
    yield from map(_owner, spec.owners)
    if spec.strategies:
        yield f"The descheduler runs {listed([_strategy(s) for s in spec.strategies])}."
    yield from map(_keeper, spec.keepers)
    yield from map(_extender, spec.extenders)
    if foreign := [pod.name for pod in spec.pods if pod.foreign]:
        yield f"Another scheduler places {listed(foreign)}."
    if spec.scope.autoscaler or spec.scope.scale_downs:
        yield _autoscaler(spec.scope)


def _autoscaler(scope: Scope) -> str:
    if scope.autoscaler:
        taken = "those from which it has evicted the pods" if scope.scale_down_drains else "empty ones"
        return f"An autoscaler makes nodes for pods that fit nowhere, and takes {taken} away."
    if scope.scale_down_drains:
        return "An autoscaler takes nodes away, and has their pods evicted first."
    return "An autoscaler takes empty nodes away."


def _owner(owner: OwnerSpec) -> str:
    names = [name for _, pods in owner.slots for name in pods]
    wants = f"{counted(owner.replicas, 'pod')}"
    match owner.kind:
        case OwnerKind.DAEMON_SET:
            places = [f"{node} ({listed(pods)})" for node, pods in owner.slots]
            return f"DaemonSet {owner.name} keeps a pod on {listed(places)}."
        case OwnerKind.STATEFUL_SET:
            order = "all at once" if owner.parallel else "one after the other"
            return f"StatefulSet {owner.name} keeps {listed(names)}, created {order}."
        case OwnerKind.JOB:
            when = " and replaces one when it has ended" if owner.waits_for_end else ""
            return f"Job {owner.name} wants {wants} to succeed{when}; {_standing(names)}."
        case _:
            return f"{owner.kind.value} {owner.name} keeps {wants}; {_standing(names)}."


def _standing(names: Sequence[str]) -> str:
    return f"{listed(names)} stand{'s' if len(names) == 1 else ''} for its pods, each for one at a time"


def _strategy(strategy: StrategySpec) -> str:
    return strategy.kind.value + (" with nodeFit" if strategy.node_fit else "")


def _keeper(keeper: KeeperSpec) -> str:
    quota = keeper.quota
    share = " pods" if quota is None else f" {counted(quota, 'pod')} at once"
    waits = (
        f" when {listed(keeper.waits_for)} {'is' if len(keeper.waits_for) == 1 else 'are'} gone"
        if keeper.waits_for
        else ""
    )
    return f"Gate keeper {keeper.name} takes {keeper.gate} off{share}{waits}."


def _extender(extender: ExtenderSpec) -> str:
    verbs = {
        "filter": extender.filters,
        "prioritize": bool(extender.scores),
        "preempt": extender.preempts,
        "bind": extender.binds,
    }
    called = listed([verb for verb, has in verbs.items() if has])
    passed = "; its errors are ignored" if extender.ignorable else ""
    name = f"Extender {extender.name}" if extender.name else "An extender"
    counts = f"counts {extender.resource}, and " if extender.resource else ""
    return f"{name} {counts}is called for {called}{passed}."
