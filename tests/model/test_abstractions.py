"""Every entry of the list of what is abstracted (docs/model.md) is pinned: what the model does instead, it does.

The test of an entry is named after it: A-SCORES is `test_a_scores`. None goes or comes unnoticed.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

import pytest

from podrace.base.problems import Problem
from podrace.model.cluster import build_cluster
from podrace.model.environment.cluster.node_health import UNREACHABLE, give_healths, of_one_kind
from podrace.model.environment.cluster.node_versions import versions_of
from podrace.model.environment.cluster.owned_pods import Owned
from podrace.model.environment.cluster.placement_rules import (
    NodeAffinity,
    NodeTerm,
    Operator,
    Requirement,
    SpreadConstraint,
    Taint,
    Toleration,
)
from podrace.model.environment.cluster.pod_versions import PodChange, PodVersion
from podrace.model.environment.cluster.workloads import (
    ExtenderSpec,
    OwnerKind,
    OwnerSpec,
    StrategyKind,
    StrategySpec,
)
from podrace.model.environment.extender import HTTPExtender
from podrace.model.environment.names import Recreation
from podrace.model.environment.objects import (
    Claim,
    ClusterSpec,
    Config,
    Device,
    DisruptionBudget,
    ExtensionPoint,
    HostPort,
    Node,
    Pod,
    PodCopy,
    PodGroup,
    PodObject,
    Scope,
    Selector,
    StorageClass,
    Term,
    Volume,
    VolumeClaim,
)
from podrace.model.environment.storage.claims import ClaimUse
from podrace.model.environment.storage.volumes import VolumeUse
from podrace.model.history import RELEASES, resolve
from podrace.model.history.versions.gates import GateProblem, find_gate
from podrace.model.language import trace_system
from podrace.model.scheduler.cycles.binding import BindingPhase
from podrace.model.scheduler.cycles.post_filter import PostFilter
from podrace.model.scheduler.framework.events import (
    ANY_EVENT,
    NODE_ADD,
    NODE_DELETE,
    PERMIT_PLUGIN,
    POD_UPDATE,
    default_plugins,
)
from podrace.model.scheduler.framework.status import Code, NodeStatus, Phase
from podrace.model.scheduler.other_scheduler import ForeignPod, KnownPod
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from podrace.scenarios import find_scenarios, parse_scenario
from tests.model.clusters import concrete, enabled, nodes, race_72124, spec

PAGE = Path(__file__).parents[2] / "docs" / "model.md"
LISTED = re.findall(r"^\| (A-[A-Z-]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_every_entry_has_its_test_and_every_test_its_entry():
    pinned = {name for name in globals() if name.startswith("test_a_")}
    assert {f"test_{name.lower().replace('-', '_')}" for name in LISTED} == pinned
    assert len(LISTED) == len(set(LISTED)) > 20


def system(cluster=None, release="1.22"):
    return trace_system(build_cluster(cluster or race_72124(), resolve(release).classes))


def steps_of(release, cluster=None):
    return {t.label.partition("(")[0] for t in system(cluster, release).transitions}


def filtered(config=None, pods=None, on=None):
    """p has been filtered on all nodes."""
    on = on or nodes(2, 2)
    pods = pods or [Pod(0, "p", 1)]
    model = concrete(spec(pods, on, config=config or Config()), "1.22")
    scheduler = model.part("scheduler")
    model.do(lambda: scheduler.pop(pods[0]))
    model.do(lambda: scheduler.take_snapshot(pods[0]))
    for node in on:
        model.do(partial(scheduler.filter, pods[0], node))
    return model, pods[0], on, scheduler


@pytest.mark.parametrize(("scored", "winners"), [(False, [True, True]), (True, [False, True])])
def test_a_scores(scored, winners):
    on = nodes(4, 4)
    likes = [Term({"app": "x"}, "kubernetes.io/hostname", required=False, anti=False)]
    pods = [Pod(0, "p", 1, terms=likes), Pod(1, "x", 1, labels={"app": "x"}, node=on[1])]
    model, p, on, scheduler = filtered(Config(scored=scored), pods, on)
    assert [enabled(model, lambda n=n: scheduler.assume(p, n)) for n in on] == winners
    plugins = ("TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity", "NodeResourcesFit", "NodeResourcesBalancedAllocation")  # fmt: skip
    assert tuple(model.part("scores").weights()) == plugins
    assert not set(model.part("scores").plugins(p)) & set(plugins[4:]), "there is no strategy"
    asked = "name: x\ntitle: x\nproperties: [S-CAP]\nnodes: {n: {cpu: 1}}\npods: {p: {cpu: 1}}\n"
    with pytest.raises(Problem, match="unknown field `ImageLocality`"):
        parse_scenario(asked + "config: {scored: true, scoreWeights: {ImageLocality: 1}}\n")


def test_a_durations():
    names = {v.name.partition("[")[0] for v in system().variables if v.name.startswith("clock.")}
    assert names == {"clock.older", "clock.open"}


def test_a_backoff():
    on, p = nodes(2), Pod(0, "p", 1)
    model = concrete(spec([p], on), "1.22")
    queue = model.part("queue")
    model.do(lambda: queue.put(p, SubQueue.UNSCHEDULABLE, PodCopy()))
    model.do(queue.move_all)
    assert model.get(lambda: queue.sub_queue[p]) is SubQueue.BACKOFF
    assert enabled(model, lambda: queue.flush_backoff(p))


def test_a_versions():
    on, p = nodes(2), Pod(0, "p", 1)
    model = concrete(spec([p], on), "1.18")
    api = model.part("api")
    model.do(lambda: api.set_nomination(p, on[0]))
    model.do(lambda: api.clear_nomination(p))
    assert model.get(lambda: api.is_current(p, PodCopy())) is True


def test_a_condition():
    on, p = nodes(2), Pod(0, "p", 1)
    model = concrete(spec([p], on), "1.22")
    model.do(lambda: model.part("api").patch_status(p, False, None))
    assert model.get(lambda: model.part("pod_watch").log.length) == 0


def test_a_record():
    on, p = nodes(2), Pod(0, "p", 1)
    model = concrete(spec([p], on), "1.22")
    queue, plugins = model.part("queue"), model.model.entities[type(default_plugins()[0])]
    model.do(lambda: queue.record_rejection(p, dict.fromkeys(plugins, True)))
    assert not any(model.get(lambda: [queue.rejected_by[p][g] for g in plugins]))


def test_a_cycles():
    kinds = {v.name: v.sort.name for v in system().variables if v.name.startswith("queue.moved")}
    assert set(kinds.values()) == {"bool"}
    assert "queue.moved" in kinds


@pytest.mark.parametrize(
    ("release", "limits"),
    [
        (
            "1.18",
            {"one failure handler per pod", "one requeue goroutine per pod", "one binding cycle per pod"},
        ),
        ("1.22", {"one failure handler per pod", "one binding cycle per pod"}),
    ],
)
def test_a_one_each(release, limits):
    found = set(system(release=release).constraints)
    assert {name for name in found if name.startswith("one ")} == limits


def test_a_backlog():
    assert "pod_watch.log holds at most 3" in system(race_72124(pod_events=3)).constraints


def test_a_filters():
    names = {plugin.name for plugin in default_plugins(gates=True, permit=True, ports=True)}
    assert not names & {"VolumeRestrictions", "VolumeBinding", "DynamicResources"}
    every = {plugin.name for plugin in default_plugins(True, True, True, claims=True, volumes=True)}
    assert every - names == {"VolumeRestrictions", "VolumeBinding", "DynamicResources"}
    assert not every & {"VolumeZone", "NodeVolumeLimits", "NodeName", "NodeDeclaredFeatures"}


def test_a_used_ports():
    """Up to 1.8 a port of another protocol took the number off the list for both: the model's list keeps them apart."""
    (on,) = nodes(9)
    a = Pod(0, "a", 1, host_ports=[HostPort(80, "UDP")])
    b, p = (Pod(i, name, 1, host_ports=[HostPort(80)]) for i, name in enumerate("bp", 1))
    model = concrete(spec([a, b, p], (on,)), "1.8")
    cache, snapshot, filters = (model.part(name) for name in ("cache", "snapshot", "filters"))
    for pod in (a, b):
        model.do(partial(cache.assume, pod, on, PodCopy()))
    model.do(partial(cache.forget, a, on))
    model.do(snapshot.update)
    assert model.get(lambda: filters.node_ports(p, on, snapshot.placement())) is Code.UNSCHEDULABLE


def test_a_spread():
    assert [field.name for field in fields(SpreadConstraint)] == [
        "topology_key",
        "selector",
        "max_skew",
        "others",
        "min_domains",
        "honors_affinity",
        "honors_taints",
        "by_default",
    ]


@pytest.mark.parametrize("release", [RELEASES[0], "1.19", RELEASES[-1]])
def test_a_filter_order(release):
    model = concrete(spec([Pod(0, "p", 1)], nodes(2)), release)
    without = set() if release != RELEASES[0] else {"PodTopologySpread"}
    names = [plugin.name for plugin in default_plugins(ports=True) if plugin.name not in without]
    assert list(model.part("filters").plugins()) == names


def test_a_prefilter():
    """n1 is not named: that it is tainted is recorded, and that NodeAffinity would not have it is not."""
    on = (Node(0, "n0", 1), Node(1, "n1", 4, taints=[Taint("k")]))
    named = NodeAffinity((NodeTerm(fields=(Requirement("metadata.name", Operator.IN, ("n0",)),)),))
    p = Pod(0, "p", 2, node_affinity=named)
    model = concrete(spec([p], on), "1.36")
    scheduler, plugins = model.part("scheduler"), model.model.entities[type(default_plugins()[0])]
    for step in (scheduler.pop, scheduler.take_snapshot):
        model.do(partial(step, p))
    for node in on:
        model.do(partial(scheduler.filter, p, node))
    recorded = model.get(lambda: {g.name: scheduler.rejected_by[g] for g in plugins})
    assert {name for name, so in recorded.items() if so} == {"NodeResourcesFit", "TaintToleration"}


def test_a_extenders():
    """One that filters by labels has no state, is asked with the plugins of a node, and scores nothing; the dry runs ask none, whatever it keeps count of."""
    n, m = Node(0, "n", 2), Node(1, "m", 2, labels={"disk": "ssd"})
    pods = [Pod(0, "p", 1, extender_selector={"disk": "ssd"}), Pod(1, "q", 1)]
    assert not [v for v in system(spec(pods, (n, m))).variables if v.name.startswith("extender.")]
    one = ExtenderSpec("x/gpu", ignored_by_scheduler=True, filters=True, preempts=True)
    of = Node(0, "n", 2, extended={"x/gpu": 1})
    full = [Pod(0, "v", 1, node=of, extended={"x/gpu": 1}), Pod(1, "p", 1, 10, extended={"x/gpu": 1})]
    asked = concrete(replace(spec(full, (of,)), extenders=(one,)), "1.36")
    candidate, _, _ = asked.get(lambda: asked.part("preemption").candidate(full[1], of))
    assert candidate is False, "nobody would have to go, as far as the plugins know"
    # About victims it is asked on which nodes they would do: what it counts is free without v, which goes all the same.
    held = [Pod(0, "v", 1, node=of), Pod(1, "p", 2, 10, extended={"x/gpu": 1})]
    asked = concrete(replace(spec(held, (of,)), extenders=(replace(one, filters=False),)), "1.36")
    scheduler, (v, p), (extender,) = asked.part("scheduler"), held, asked.model.entities[HTTPExtender]
    for move in (
        partial(scheduler.pop, p), partial(scheduler.take_snapshot, p), partial(scheduler.filter, p, of),
        partial(scheduler.reread_preemptor, p), partial(scheduler.dry_run, p, of),
        partial(scheduler.ask_extender_about_victims, p, extender, True),
    ):  # fmt: skip
        asked.do(move)
    assert asked.get(lambda: [scheduler.verdict[of], asked.part("preemption").victim[v]]) == [
        NodeStatus.CANDIDATE,
        True,
    ]
    model = concrete(spec(pods, (n, m)), "1.36")
    scheduler, (p, q) = model.part("scheduler"), model.part("api").universe[Pod]
    for pod, found in ((p, [NodeStatus.REJECTED, NodeStatus.FEASIBLE]), (q, [NodeStatus.FEASIBLE] * 2)):
        before = [scheduler.pop, scheduler.take_snapshot]
        after = [partial(scheduler.assume, node=m), scheduler.start_binding]
        for move in before:
            model.do(partial(move, pod))
        for node, status in zip((n, m), found, strict=True):
            model.do(partial(scheduler.filter, pod, node))
            assert model.get(partial(scheduler.verdict.__getitem__, node)) == status
        for move in after:
            model.do(partial(move, pod))


def test_a_plugins():
    on, p = nodes(2), Pod(0, "p", 1, extension_points=list(ExtensionPoint))
    found = system(spec([p], on, plugin_errors=1, permit_rejections=1))
    parts = {v.name.partition(".")[0] for v in found.variables}
    assert "waiting" in parts
    assert not parts & {"reserve", "plugins"}
    (plugin,) = (g for g in default_plugins(permit=True) if g.name == PERMIT_PLUGIN)
    assert plugin.asked_for(NODE_DELETE)
    assert plugin.asked_for(POD_UPDATE)
    model = concrete(spec([p], on, plugin_errors=1, permit_rejections=1), "1.36")
    model.do(lambda: model.part("binding").phase.__setitem__(p, BindingPhase.PRE_BIND))
    model.do(lambda: model.part("binding").pre_bind(p, False))
    assert model.get(lambda: model.part("binding").rejected[p]) is False, "PreBind fails, and rejects nobody"


@pytest.mark.parametrize("release", ["1.34", "1.34.2", "1.35"])
def test_a_async_calls(release):
    """The failure's patch is written before the cycle goes on, in 1.34.0 as in 1.34.2."""
    on = nodes(2)
    p, there = Pod(0, "p", 2), Pod(1, "there", 1, 10, node=on[0])
    model = concrete(spec([p, there], on), release)
    scheduler, failure = model.part("scheduler"), model.part("failure")
    for step in (scheduler.pop, scheduler.take_snapshot):
        model.do(partial(step, p))
    model.do(partial(scheduler.filter, p, on[0]))
    model.do(partial(scheduler.reread_preemptor, p))
    model.do(partial(scheduler.dry_run, p, on[0]))
    for step in (scheduler.fail, failure.read, failure.requeue, failure.nominate):
        model.do(partial(step, p))
    assert model.get(lambda: scheduler.phase) is Phase.FAILING
    model.do(partial(failure.patch, p))
    assert model.get(lambda: model.part("api").pod[p].failed) is True
    assert model.get(lambda: scheduler.phase) is Phase.IDLE
    assert not model.part("api_dispatcher").is_there()


def test_a_batching():
    """A second pod like the first may go to any node that is left: whichever a hint would name is among them."""
    on = nodes(1, 1, 1)
    pods = [Pod(0, "a", 1), Pod(1, "b", 1)]
    model = concrete(spec(pods, on), "1.36")
    scheduler = model.part("scheduler")
    for pod in pods:
        model.do(partial(scheduler.pop, pod))
        model.do(partial(scheduler.take_snapshot, pod))
        for node in on:
            model.do(partial(scheduler.filter, pod, node))
        if pod is pods[0]:
            model.do(partial(scheduler.assume, pod, on[0]))
            model.do(partial(scheduler.start_binding, pod))
    assert [enabled(model, partial(scheduler.assume, pods[1], node)) for node in on] == [False, True, True]


def test_a_framework():
    on, p = nodes(2), Pod(0, "p", 1, extension_points=list(ExtensionPoint))
    assert "binding.pre_bind" not in steps_of("1.14", spec([p], on))
    assert "binding.pre_bind" in steps_of("1.15", spec([p], on))


def test_a_sampling():
    model, _, on, scheduler = filtered(Config(percentage_of_nodes=1), on=nodes(2, 2, 2))
    assert [model.get(lambda n=n: scheduler.verdict[n]) for n in on] == [NodeStatus.FEASIBLE] * 3


def test_a_dry_runs():
    on = nodes(2, 2)
    pods = [Pod(0, "p", 2, 10), Pod(1, "v", 2, node=on[0]), Pod(2, "w", 2, node=on[1])]
    model, p, on, scheduler = filtered(pods=pods, on=on)
    model.do(lambda: scheduler.reread_preemptor(p))
    assert [enabled(model, lambda n=n: scheduler.dry_run(p, n)) for n in on] == [True, True]


def test_a_budgets():
    on = nodes(2)
    pods = (Pod(0, "p", 1, labels={"a": "b"}),)
    budgets = (DisruptionBudget(0, "b", Selector({"a": "b"}), 1),)
    found = system(ClusterSpec("budgets", pods, on, Scope(), budgets))
    assert not [v.name for v in found.variables if "budget" in v.name]
    kept = system(ClusterSpec("budgets", pods, on, Scope(disruption_controller=True, evictions=1), budgets))
    # The controller counts what is bound: it has no view of its own that lags, and no pod is unready unless the scope asks.
    assert {v.name for v in kept.variables if "budget" in v.name} == {
        "budgets.allowed[b]", "budgets.disrupted[b][p]", "budgets.evicting[p]", "budgets.listed_allowed[b]", "budgets.listed_disrupted[b][p]",
        "budgets.read_allowed[b]", "budgets.read_disrupted[b][p]",
    }  # fmt: skip
    # A pod that is not bound is deleted, not evicted; nor is one with several budgets, or none.
    labels: tuple[dict[str, str], ...] = ({"a": "b"}, {"a": "b"}, {"a": "b", "c": "d"}, {})
    some = tuple(Pod(i, f"p{i}", 1, node=None if i == 0 else on[0], labels=ls) for i, ls in enumerate(labels))
    two = (*budgets, DisruptionBudget(1, "d", Selector({"c": "d"}), 1))
    scope = Scope(disruption_controller=True, evictions=1)
    model = concrete(ClusterSpec("budgets", some, on, scope, two), "1.36")
    evict = model.part("budgets").evict
    assert [enabled(model, partial(evict, pod)) for pod in some] == [False, True, False, False]


def test_a_autoscaler():
    spec = ClusterSpec("scaled", (Pod(0, "p", 1),), (Node(0, "n", 1),), Scope(scale_downs=1))
    found = {t.label.partition("(")[0] for t in system(spec).transitions}
    # It evicts nobody; without more in the scope it puts no taint on the node, and makes none.
    assert {label for label in found if label.startswith("autoscaler")} == {
        "autoscaler.find_empty", "autoscaler.take_away",
    }  # fmt: skip
    more = replace(spec, nodes=(Node(0, "n", 1, exists=False),), scope=Scope(autoscaler=True))
    found = {t.label.partition("(")[0] for t in system(more).transitions}
    assert {label for label in found if label.startswith("autoscaler")} == {
        "autoscaler.find_empty", "autoscaler.take_away", "autoscaler.make_node",
    }  # fmt: skip
    assert not [
        v.name for v in system(ClusterSpec("not", spec.pods, spec.nodes)).variables if "autoscaler" in v.name
    ]
    # Who is nominated to a node takes no room there from others, and one whose node is gone gets another.
    n, m, p, q = Node(0, "n", 1), Node(1, "m", 1, exists=False), Pod(0, "p", 1), Pod(1, "q", 1)
    model = concrete(ClusterSpec("nominated", (p, q), (n, m), Scope(autoscaler=True)), "1.36")
    api, autoscaler = model.part("api"), model.part("autoscaler")
    for pod, nominated in ((p, n), (q, None)):
        model.do(partial(api.patch_status, pod, failed=True, nominated=nominated))
    assert not enabled(model, lambda: autoscaler.make_node(m, q))
    model.do(lambda: api.write_node(n, exists=False))
    assert enabled(model, lambda: autoscaler.make_node(m, p))


def test_a_nominations():
    def writers(nominates):
        pods, on = (Pod(0, "p", 1), Pod(1, "q", 1, 5)), (Node(0, "n", 1), Node(1, "m", 1, exists=False))
        scope = Scope(autoscaler=True, autoscaler_nominates=nominates, pod_deletions=1, external_binds=1)
        found = system(ClusterSpec("nominated", pods, on, scope), "1.36").transitions
        fields = {f"api.pod[{pod.name}].nominated" for pod in pods}
        return {
            t.label.partition("(")[0] for t in found if fields & {variable.name for variable in t.updates}
        }

    of_the_scheduler = {"failure.patch", "async_preemption.clear_nomination", "binding.bind"}
    of_pods_that_go = {
        "async_preemption.evict", "async_preemption.evict_last", "kubelet.finish_termination", "pod_gc.collect",
        "users.bind_pod", "users.delete_pod",
    }  # fmt: skip
    assert writers(False) == of_the_scheduler | of_pods_that_go
    assert writers(True) - writers(False) == {"autoscaler.make_node"}


def owned(*, pods=("a", "b"), strategies=()):
    made = [Pod(i, name, 1, exists=i == 0) for i, name in enumerate(pods)]
    owners = (OwnerSpec("web", OwnerKind.REPLICA_SET, 1, (("", tuple(pods)),)),)
    return ClusterSpec("owned", tuple(made), nodes(2, 2), Scope(), owners=owners, strategies=strategies)


def test_a_other_scheduler():
    pods = (Pod(0, "p", 1), Pod(1, "q", 1, foreign=True))
    of = ClusterSpec("two", pods, nodes(1))
    model = concrete(of, "1.36")
    other, (_, _), (q,) = (
        model.part("other_scheduler"),
        model.model.entities[KnownPod],
        model.model.entities[ForeignPod],
    )
    assert {t.step for t in system(of).transitions if t.part == "other_scheduler"} == {
        "hear",
        "assume",
        "bind",
    }
    assert not [v for v in system(ClusterSpec("one", pods[:1], nodes(1))).variables if "other" in v.name]
    queue = model.part("queue")
    assert [model.get(partial(queue.contains, p)) for p in pods] == [True, False]
    model.do(lambda: model.part("api").bind(pods[0], of.nodes[0]))
    assert enabled(model, lambda: other.assume(q, of.nodes[0]))
    model.do(lambda: other.hear(model.model.entities[KnownPod][0]))
    assert not enabled(model, lambda: other.assume(q, of.nodes[0]))


def test_a_owned():
    of = owned()
    model = concrete(of, "1.36")
    controllers, (a, b) = model.part("controllers"), model.model.entities[Owned]
    model.do(lambda: model.part("api").remove_pod(a.pod))
    # What a controller hears of is the newest version; and a is not used again while the scheduler has it.
    model.do(lambda: controllers.hear(a))
    assert [enabled(model, lambda o=o: controllers.create(o)) for o in (a, b)] == [False, True]
    alone = concrete(owned(pods=("a",)), "1.36")
    controllers, (a,) = alone.part("controllers"), alone.model.entities[Owned]
    alone.do(lambda: alone.part("api").remove_pod(a.pod))
    alone.do(lambda: controllers.hear(a))
    assert not enabled(alone, lambda: controllers.create(a))
    found = {t.label.partition("(")[0] for t in system(of).transitions}
    assert {label for label in found if label.startswith("controllers")} == {
        "controllers.hear", "controllers.create", "controllers.delete",
    }  # fmt: skip


def test_a_descheduler():
    of = owned(strategies=(StrategySpec(StrategyKind.LOW_UTILIZATION, low=20, high=30),))
    transitions = [t for t in system(of).transitions if t.part == "descheduler"]
    assert {(t.step, t.fair) for t in transitions} == {("choose", False), ("evict", True)}
    assert not [t for t in system(owned()).transitions if t.step == "choose"]


def test_a_recreated():
    (on,) = nodes(1)
    web = Pod(0, "web", 1, node=on, graceful=False)
    again, third = (Pod(i, f"web-{i}", 1, exists=False, recreates="web") for i in (1, 2))
    with pytest.raises(ValueError, match="a name is used at most twice"):
        build_cluster(spec([web, again, third], (on,)))
    model = concrete(spec([web, again], (on,)), "1.36")
    controller, api = model.part("stateful_sets"), model.part("api")
    (recreation,) = model.part("api").universe[Recreation]
    assert not enabled(model, lambda: controller.recreate(recreation))
    model.do(lambda: api.delete_pod(web))
    model.do(lambda: controller.recreate(recreation))
    assert model.get(lambda: api.under_name(web).pending) is True
    model.do(lambda: api.remove_pod(again))
    assert not enabled(model, lambda: controller.recreate(recreation))
    # Preemption for a pod that is gone ends, although the lister has its name.
    scheduler, watch = model.part("scheduler"), model.part("pod_watch")
    assert model.get(lambda: scheduler.read_preemptor(web).exists) is True
    model.do(lambda: watch.store(web))
    assert model.get(lambda: scheduler.read_preemptor(web).exists) is False
    # What a list makes of both is one step of each half of the handler, or of both halves where two events are told.
    swaps = {
        t.label.partition("(")[0] for t in system(spec([web, again], (on,), relists=1), "1.36").transitions
    }
    assert {name for name in swaps if "swap" in name} == {
        "handlers.handle_swap_for_queue",
        "handlers.handle_swap_for_cache",
        "handlers.wake_queue_for_swap",
    }


def test_a_relist():
    p = Pod(0, "p", 1)
    (node,) = on = nodes(1)
    model = concrete(spec([p], on, pod_deletions=1, node_deletions=1, relists=2), "1.22")
    api, pods, of_nodes = (model.part(name) for name in ("api", "pod_watch", "node_watch"))
    model.do(lambda: api.delete_pod(p))
    model.do(lambda: api.write_node(node, exists=False))
    for watch, stored in ((pods, p), (of_nodes, node)):
        assert enabled(model, watch.resume)
        model.do(partial(watch.store, stored))
        assert not enabled(model, watch.resume)


def test_a_standby():
    p = Pod(0, "p", 1)
    model = concrete(spec([p], nodes(1), leader_changes=1), "1.22")
    model.do(lambda: model.part("api").bind(p, model.part("cache").universe[Node][0]))
    model.do(model.part("process").change_leader)
    assert model.get(lambda: model.part("queue").contains(p)) is True
    assert model.get(lambda: model.part("pod_watch").log.length) == 1


def test_a_commit():
    """The nominations to be withdrawn are those of the moment when the node is chosen."""
    on = nodes(2)
    p, lower, later = (Pod(i, name, 1, priority=9 - i) for i, name in enumerate("pql"))
    model = concrete(spec([p, lower, later], on), "1.32")
    preemption, nominator, queue = (model.part(name) for name in ("preemption", "nominator", "queue"))
    for pod in (lower, later):
        model.do(partial(queue.copy.__setitem__, pod, PodCopy(nominated=on[0])))
    model.do(lambda: nominator.node.__setitem__(lower, on[0]))
    model.do(lambda: preemption.commit(p, on[0]))
    model.do(lambda: nominator.node.__setitem__(lower, None))
    model.do(lambda: nominator.node.__setitem__(later, on[0]))
    withdrawn = [model.get(partial(preemption.to_clear.__getitem__, other)) for other in (lower, later)]
    assert withdrawn == [True, False]


@pytest.mark.parametrize(("release", "heads"), [("1.13", [True, True]), ("1.14", [True, False])])
def test_a_equals(release, heads):
    on, pods = nodes(2), [Pod(0, "a", 1), Pod(1, "b", 1)]
    model = concrete(spec(pods, on), release)
    assert [model.get(partial(model.part("queue").is_head, p)) for p in pods] == heads


@pytest.mark.parametrize(
    ("arrivals", "file_order", "heads"),
    [
        ((0, 0), False, [True, True]),
        ((0, 0), True, [True, False]),
        ((1, 0), False, [False, True]),
        ((0, 1), False, [True, False]),
    ],
)
def test_a_arrival(arrivals, file_order, heads):
    on, pods = nodes(2), [Pod(i, "ab"[i], 1, arrival=arrival) for i, arrival in enumerate(arrivals)]
    model = concrete(spec(pods, on, file_order=file_order), "1.22")
    assert [model.get(partial(model.part("queue").is_head, p)) for p in pods] == heads


def test_a_victims():
    pods = [Pod(0, "a", 1, start=7), Pod(1, "b", 1, start=7)]
    model = concrete(spec(pods, nodes(2)), "1.22")
    before = model.part("preemption").comes_before
    assert model.get(lambda: [before(pods[0], pods[1]), before(pods[1], pods[0])]) == [True, False]


def test_a_node_order():
    zones = [{"topology.kubernetes.io/zone": name} for name in ("a", "b", "a")]
    on = tuple(Node(i, f"n{2 - i}", 1, labels=labels) for i, labels in enumerate(zones))
    model = concrete(spec([Pod(0, "p", 1)], on), "1.18")
    tree = model.part("node_tree")
    assert model.get(lambda: [tree.index(node) for node in on]) == [0, 1, 2]


def lost_pods():
    """Two pods with anti-affinity on n0 and n1, both of which are gone from the lister."""
    apart = [Term({"app": "x"}, "kubernetes.io/hostname", required=True, anti=True)]
    on = nodes(4, 4, 4)
    pods = [Pod(i, f"x{i}", 1, node=on[i], labels={"app": "x"}, terms=apart) for i in range(2)]
    p = Pod(2, "p", 1, terms=apart, labels={"app": "x"})
    model = concrete(spec([*pods, p], on, node_deletions=2), "1.8")
    model.do(model.part("snapshot").update)
    for node in on[:2]:
        model.do(partial(model.part("node_watch").lister.__setitem__, node, False))
    return model, p, on


def test_a_predicate():
    model, p, _ = lost_pods()
    error = model.part("filters").scheduling_error
    assert model.get(lambda: [error(p, True), error(p, False)]) == [True, False]


def test_a_missing():
    model, p, on = lost_pods()
    assert model.get(lambda: model.part("filters").missing_node(p)) is on[0]
    model.do(lambda: model.part("cache").remove_node(on[2]))
    assert model.get(lambda: model.part("cache").remove_node(on[2])) is True


def test_a_heartbeats():
    assert "handlers.handle_heartbeat" in steps_of("1.13")
    assert "handlers.handle_heartbeat" not in steps_of("1.14")


def test_a_snapshot():
    assert type(build_cluster(race_72124(), resolve("1.22").classes).parts["snapshot"]).__name__ == "Snapshot"


def test_a_generations():
    assert not [v.name for v in system(release="1.8").variables if "generation" in v.name]


def test_a_node_spec():
    """Of a node object, the API server has whether it exists, and in which of its versions; those are the scenario's."""
    (plain,) = nodes(2)
    kept = {v.name for v in system(spec([Pod(0, "p", 1)], (plain,), node_updates=1), "1.36").variables}
    assert not any(
        "version" in name for name in kept if name.startswith(("api.node", "cache.node", "updates."))
    )
    several = Node(
        0, "n0", 2, later={"larger": Node(0, "n0", 3), "cordoned": Node(0, "n0", 2, unschedulable=True)}
    )
    found = system(spec([Pod(0, "p", 1)], (several,), node_updates=1), "1.36")
    assert {v.name for v in found.variables if v.name.startswith("api.node")} == {
        "api.node_exists[n0]",
        "api.node_version[n0]",
    }
    updates = sorted(t.label for t in found.transitions if t.label.startswith(("users.update", "updates.")))
    assert updates == [
        "updates.wake_queue(version=n0.cordoned, kind=NodeAllocatableChange)",
        "updates.wake_queue(version=n0.initial, kind=NodeAllocatableChange)",
        "updates.wake_queue(version=n0.initial, kind=NodeSpecUnschedulableChange)",
        "updates.wake_queue(version=n0.larger, kind=NodeAllocatableChange)",
        "updates.wake_queue(version=n0.larger, kind=NodeSpecUnschedulableChange)",
        "users.update_node(version=n0.cordoned)",
        "users.update_node(version=n0.initial)",
        "users.update_node(version=n0.larger)",
    ]


def resized(**scope):
    """A pod that may ask for more or less, on the first of two nodes."""
    on = nodes(2, 2)
    p = Pod(
        0,
        "p",
        1,
        node=on[0],
        later={"more": Pod(0, "p", 3, node=on[0]), "web": Pod(0, "p", 1, node=on[0], labels={"app": "web"})},
    )
    return spec([p, Pod(1, "q", 1)], on, pod_updates=1, **scope)


def test_a_pod_fields():
    found = system(spec([Pod(0, "p", 1, gated=True)], nodes(2)), "1.36")
    parts = {v.name.partition("].")[2] for v in found.variables if v.name.startswith("api.pod[")}
    assert parts == {"exists", "node", "nominated", "failed", "terminating", "gated"}
    # What changes is what the scenario names: each version of a pod, by any actor.
    several = Pod(0, "p", 2, later={"less": Pod(0, "p", 1), "web": Pod(0, "p", 2, labels={"app": "web"})})
    found = system(spec([several, Pod(1, "q", 1)], nodes(2), pod_updates=1), "1.36")
    assert sorted(t.label for t in found.transitions if t.label.startswith("users.update")) == [
        "users.update_pod(version=p.initial)",
        "users.update_pod(version=p.less)",
        "users.update_pod(version=p.web)",
    ]


def test_a_pod_level():
    assert "A-POD-LEVEL" in find_gate("InPlacePodLevelResourcesVerticalScaling").unmodelled
    assert not [name for name in inspect.signature(Pod).parameters if "level" in name]


def test_a_resize_actual():
    """Of what a pod asks for there is one number in each version, and for its kubelet what was allocated."""
    found = system(resized(kubelet_admission=True), "1.36")
    assert [v.name for v in found.variables if "version" in v.name and v.name.startswith("api.pod[")] == [
        "api.pod[p].version",
        "api.pod[q].version",
    ]
    assert [v.name for v in found.variables if "allocated" in v.name] == [
        "kubelet.allocated[p]",
        "kubelet.allocated[q]",
    ]
    assert not [v.name for v in found.variables if "actual" in v.name or "desired" in v.name]


def test_a_resize_refused():
    """Nobody refuses a pod of a node with two CPUs to ask for three, unless there are kubelets that do."""
    assert "kubelet.refuse" not in steps_of("1.36", resized())
    assert "kubelet.refuse" in steps_of("1.36", resized(kubelet_admission=True))
    model = concrete(resized(), "1.36")
    _, more, _ = model.part("users").universe[PodVersion]
    model.do(lambda: model.part("users").update_pod(more))
    assert model.get(lambda: model.part("api").pod[more.pod].version) == more.number


def test_a_resize_status():
    """InPlacePodVerticalScaling adds nothing to an object in 1.27 to 1.30: it lets requests change, where it is on."""
    for release in ("1.27", "1.30"):
        classes = resolve(release, (), (), {"InPlacePodVerticalScaling": True}).classes
        found = trace_system(build_cluster(resized(), classes))
        parts = {v.name.partition("].")[2] for v in found.variables if v.name.startswith("api.pod[p]")}
        assert parts == {"exists", "node", "nominated", "failed", "terminating", "version"}


def test_a_hint_object():
    """An event counts for a pod in flight as the lister has it when the event comes: what its user asks for later comes too late."""
    (on,) = nodes(4)
    less = Pod(1, "p", 2)
    x, p = Pod(0, "x", 1, node=on), Pod(1, "p", 8, later={"less": less})
    less.number = 1
    model = concrete(spec([x, p], (on,), pod_updates=1), "1.36")
    queue, watch = model.part("queue"), model.part("pod_watch")
    (fits,) = (g for g in queue.universe[type(default_plugins()[0])] if g.name == "NodeResourcesFit")
    event = partial(queue.wakes, fits, p, NODE_ADD, on)
    model.do(lambda: queue.pop(p))
    assert model.get(event) is False
    model.do(lambda: watch.lister.__setitem__(p, PodObject(exists=True, version=1)))
    assert model.get(event) is True


def test_a_preempt_object():
    """The dry run asks whether the pod fits that the cycle took: of the object that is read again it uses the nomination and the node."""
    reader = inspect.signature(PostFilter.begin_preemption)
    assert list(reader.parameters) == ["self", "pod", "exists", "nominated"]


def test_a_nominated_update():
    """A pod without a node that is relabelled is an event for no other pod, nominated or not."""
    (on,) = nodes(4)
    near = Term({"app": "web"}, "kubernetes.io/hostname")
    q, web = Pod(1, "q", 1, terms=(near,)), Pod(0, "p", 1, labels={"app": "web"})
    p = Pod(0, "p", 1, later={"web": web})
    web.number = 1
    model = concrete(spec([p, q], (on,), pod_updates=1), "1.36")
    hints = model.part("hints")
    (affinity,) = (g for g in hints.universe[type(default_plugins()[0])] if g.name == "InterPodAffinity")
    for assigned in (False, True):
        change = PodChange(p, web, assigned)
        assert model.get(partial(hints.after_pod_update, affinity, q, change)) is assigned


def test_a_nominated_object():
    """Of 1.30 and before, too, the object of a nominated pod is the one in the queue, or the lister's."""
    (on,) = nodes(4)
    less = Pod(0, "p", 2)
    p = Pod(0, "p", 1, later={"less": less})
    less.number = 1
    model = concrete(spec([p], (on,), pod_updates=1), "1.30")
    nominator, watch, queue = (model.part(name) for name in ("nominator", "pod_watch", "queue"))
    model.do(lambda: nominator.add(p, on, None))
    model.do(lambda: queue.put(p, SubQueue.NONE, PodCopy()))
    model.do(lambda: watch.lister.__setitem__(p, PodObject(exists=True, version=1)))
    assert model.get(lambda: [nominator.has_form(form) for form in (p, less)]) == [False, True]


def test_a_kubelet():
    """A kubelet has no view of its own but of what it is not done with: its steps read the API server's objects, and nobody makes another pod."""
    (n0,) = nodes(1)
    pods = [Pod(0, "a", 1, node=n0), Pod(1, "b", 1)]
    found = system(spec(pods, (n0,), kubelet_admission=True), "1.37")
    assert {v.name for v in found.variables if v.name.startswith("kubelet.")} == {
        "kubelet.rejected[a]", "kubelet.rejected[b]", "kubelet.runs[a][n0]", "kubelet.runs[b][n0]",
    }  # fmt: skip
    assert {t.label.partition("(")[0] for t in found.transitions if t.actor == "kubelet"} == {
        "kubelet.admit", "kubelet.reject", "kubelet.stop", "kubelet.finish_termination",
    }  # fmt: skip
    assert not [v.name for v in system(spec(pods, (n0,))).variables if "kubelet" in v.name]


def test_a_taint_eviction():
    """It has no clock, writes no condition of its own, and one goroutine a name; without it there is nothing of it."""
    ready = {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}
    on = (Node(0, "n0", 2, later={"bad": Node(0, "n0", 2, taints=[Taint(**ready)])}),)
    pods = [Pod(0, "a", 1, node=on[0], tolerations=[Toleration(operator="Exists", seconds=5)])]
    found = system(spec(pods, on, taint_eviction=True), "1.36")
    assert {v.name for v in found.variables if v.name.startswith("taint_eviction.")} == {
        "taint_eviction.known[n0]", "taint_eviction.listed[a]", "taint_eviction.on[a]", "taint_eviction.due[a]", "taint_eviction.entry[a]",
        "taint_eviction.armed[a]", "taint_eviction.work[a]", "taint_eviction.whom[a]", "taint_eviction.target[a]",
    }  # fmt: skip
    assert {
        t.label.partition("(")[0] for t in found.transitions if t.actor == "taint eviction controller"
    } == {
        f"taint_eviction.{step}"
        for step in ("hear_of_node", "hear_of_pod", "handle_pod", "begin", "delete", "end")
    }
    assert not [v.name for v in system(spec(pods, on)).variables if v.name.startswith("taint_eviction.")]


def test_a_node_lifecycle():
    """It minds Ready alone, fails never, and marks no pods; without it there is nothing of it."""
    on = (Node(0, "n0", 2, conditions={"DiskPressure": "True"}),)
    give_healths(on, Scope(heartbeat_losses=1))
    pods = [Pod(0, "a", 1, node=on[0])]
    found = system(spec(pods, on, node_lifecycle=True, heartbeat_losses=1), "1.36")
    steps = {t.label.partition("(")[0] for t in found.transitions if t.label.startswith("node_lifecycle.")}
    assert steps == {
        f"node_lifecycle.{step}"
        for step in (
            "cut_off", "come_back", "report", "hear", "look_at_update", "monitor", "write_status", "take_from_queue", "add_taints", "remove_taints", "halt",
            "take_back", "go_on", "recover",
        )
    }  # fmt: skip
    (table,) = of_one_kind(versions_of(on))
    assert (len(table), {t.key for v in table.values() for t in v.content.taints}) == (8, {UNREACHABLE})
    assert not [v.name for v in system(spec(pods, on)).variables if v.name.startswith("node_lifecycle.")]


def test_a_finished():
    """Only a pod that is bound, not being deleted, and said to finish does so; what remains of it nobody but a DELETE can tell."""
    names = {t.label.partition("(")[0] for t in system(release="1.36").transitions if t.actor == "kubelet"}
    assert {name.partition(".")[2] for name in names} == {"finish_termination"}
    (n0,) = nodes(4)
    pods = [
        Pod(0, "p", 1, finishes=True),
        Pod(1, "b", 1, node=n0, finishes=True),
        Pod(2, "d", 1, node=n0, finishes=True),
    ]
    model = concrete(spec(pods, (n0,), pod_deletions=2, pod_events=6), "1.36")
    api, kubelet, users = (model.part(n) for n in ("api", "kubelet", "users"))
    p, b, d = api.universe[Pod]
    model.do(lambda: users.delete_pod(d))
    assert [enabled(model, partial(kubelet.report_finished, pod)) for pod in (p, b, d)] == [
        False,
        True,
        False,
    ]
    model.do(lambda: kubelet.report_finished(b))
    told = model.get(lambda: api.pod_watch.log.length)
    model.do(lambda: users.delete_finished_pod(b))
    assert model.get(lambda: api.pod_watch.log.length) == told
    assert model.get(lambda: [api.finds(b), api.finished[b]]) == [False, True]


def test_a_deletion():
    """A pending pod is gone with its DELETE: at no time is it terminating, and there is one event."""
    pods = [Pod(0, "p", 1)]
    model = concrete(spec(pods, nodes(2), pod_deletions=1, pod_events=6), "1.36")
    api, watch = model.part("api"), model.part("pod_watch")
    waiting = model.get(lambda: watch.log.length)
    model.do(lambda: model.part("users").delete_pod(pods[0]))
    assert model.get(lambda: (api.pod[pods[0]].exists, api.pod[pods[0]].terminating)) == (False, False)
    assert model.get(lambda: watch.log.length) == waiting + 1


def test_a_finalizers():
    """A pending pod with finalizers lingers until all of them are removed at once; those of a bound pod do nothing."""
    (n0,) = nodes(2)
    pods = [Pod(0, "p", 1, finalizers=True), Pod(1, "q", 1), Pod(2, "b", 1, node=n0, finalizers=True)]
    model = concrete(spec(pods, (n0,), pod_deletions=3, pod_events=6), "1.36")
    api, users, owners, kubelet = (model.part(n) for n in ("api", "users", "finalizer_owners", "kubelet"))
    p, q, b = api.universe[Pod]
    assert not enabled(model, lambda: owners.release(p))
    for pod in (p, q, b):
        model.do(partial(users.delete_pod, pod))

    def there(pod):
        return api.pod[pod].exists, api.pod[pod].terminating

    seen = {pod.name: model.get(partial(there, pod)) for pod in (p, q, b)}
    assert seen == {"p": (True, True), "q": (False, False), "b": (True, True)}
    assert not enabled(model, lambda: users.delete_pod(p))
    assert not model.get(lambda: api.can_bind(p))
    assert not enabled(model, lambda: kubelet.finish_termination(p))
    model.do(lambda: owners.release(p))
    assert not enabled(model, lambda: owners.release(b))
    model.do(lambda: kubelet.finish_termination(b))
    assert not model.get(lambda: api.pod[p].exists | api.pod[b].exists)


@pytest.mark.parametrize(("release", "known"), [("1.26", True), ("1.27", False), ("1.36", False)])
@pytest.mark.parametrize("first", ["kubelet", "owner"])
def test_finalizers_of_bound_pods(release: str, known: bool, first: str) -> None:
    """With `bound_finalizers` they keep its object, in any order with the kubelet; the scheduler knows of it until 115331. A DELETE without grace waits for them, too."""
    (n0,) = nodes(2)
    pods = [Pod(0, "b", 1, node=n0, finalizers=True, graceful=False)]
    model = concrete(spec(pods, (n0,), pod_deletions=1, pod_events=6, bound_finalizers=True), release)
    api, users, owners, kubelet = (model.part(n) for n in ("api", "users", "finalizer_owners", "kubelet"))
    (b,) = api.universe[Pod]
    assert not enabled(model, lambda: owners.release_bound(b))
    model.do(lambda: users.delete_pod(b))
    assert model.get(lambda: api.pod[b].terminating)
    if first == "owner":
        model.do(lambda: owners.release_bound(b))
    model.do(lambda: kubelet.finish_termination(b))
    if first == "kubelet":
        assert model.get(lambda: [api.pod[b].exists, api.finds(b)]) == [known, True]
        assert not enabled(model, lambda: kubelet.finish_termination(b))
        model.do(lambda: owners.release_bound(b))
    assert model.get(lambda: [api.pod[b].exists, api.finds(b)]) == [False, False]


def test_a_sums():
    first = [v.name for v in system().variables if v.name.startswith("node_infos.")]
    assert not [name for name in first if "requested" in name]
    # An update takes the pod out of its NodeInfo as it was, and puts it in as it is: what counts is the version that is there.
    on = nodes(4)[:1]
    x = Pod(0, "x", 2, node=on[0], later={"less": Pod(0, "x", 1, node=on[0])})
    model = concrete(spec([x], on, pod_updates=1), "1.36")
    cache, less = model.part("cache"), model.part("cache").universe[PodVersion][1]
    model.do(lambda: cache.update_pod(x, PodObject(exists=True, node=on[0], version=1)))
    assert model.get(lambda: cache.node_infos.version[x]) is less
    model.do(lambda: cache.remove_pod(x))
    assert model.get(lambda: cache.node_infos.version[x]) is None


def test_a_pre_enqueue():
    on, p = nodes(2), Pod(0, "p", 1, gated=True)
    model = concrete(spec([p], on), "1.34")
    queue = model.part("queue")
    assert model.get(lambda: queue.sub_queue[p]) is SubQueue.UNSCHEDULABLE
    model.do(lambda: model.part("users").remove_gates(p))
    assert model.get(lambda: model.part("api").pod[p].gated) is False
    assert not enabled(model, lambda: model.part("users").remove_gates(p))

    # Of a gang that is there at the start nobody is named as held back.
    system = groups_of("1.36")
    start = {v.name: value for v, value in zip(system.variables, system.initial, strict=True)}
    rejected = {
        name: value for name, value in start.items() if "[GangScheduling]" in name and "rejected" in name
    }
    assert set(rejected.values()) == {False}
    assert {start[f"queue.sub_queue[{pod}]"] for pod in "pqr"} == {list(SubQueue).index(SubQueue.ACTIVE)}


def test_a_disruption():
    def knows(release):
        variables = {v.name.partition("[")[0] for v in system(release=release).variables}
        return "pod_watch.condition" in variables, "handlers.learn_of_condition" in steps_of(release)

    # Who knows of the condition matters from 1.32 to 1.34.4 only; written it is with the deletion, in one step.
    assert [knows(release) for release in ("1.31", "1.34", "1.35", "1.36")] == [(False, False)] * 4
    assert [knows(release) for release in ("1.32", "1.33.6", "1.34.4")] == [(True, True)] * 3
    assert "disrupted" not in {v.name.rpartition(".")[2] for v in system(release="1.34.4").variables}


def test_a_early_pop():
    on, pods = nodes(2), [Pod(0, "a", 1, 5), Pod(1, "b", 1), Pod(2, "c", 1)]
    model = concrete(spec(pods, on), "1.34")
    queue, plugins = model.part("queue"), model.model.entities[type(default_plugins()[0])]
    for pod in pods:
        model.do(partial(queue.put, pod, SubQueue.BACKOFF, PodCopy()))
    for pod in pods[:2]:
        model.do(partial(queue.rejected_by[pod].__setitem__, plugins[0], True))
    assert [model.get(partial(queue.is_head, pod)) for pod in pods] == [True, True, False]


def test_a_release():
    on, p = nodes(2), Pod(0, "p", 1)
    model = concrete(spec([p], on), "1.34")
    queue = model.part("queue")
    model.do(lambda: queue.pop(p))
    assert model.get(lambda: queue.in_flight[p]) is True
    model.do(lambda: queue.requeue(p, PodCopy()))
    assert model.get(lambda: queue.in_flight[p]) is False


def test_a_walk():
    on = nodes(1, 1)
    pod = Pod(0, "p", 1)
    model = concrete(spec([pod], on, node_deletions=1), "1.16")
    scheduler, snapshot, cache = (model.part(name) for name in ("scheduler", "snapshot", "cache"))
    model.do(lambda: scheduler.pop(pod))
    model.do(lambda: scheduler.take_snapshot(pod))
    assert model.get(lambda: [snapshot.listed[n] for n in on]) == [False, False]
    model.do(lambda: cache.remove_node(on[0]))
    model.do(lambda: scheduler.list_tree(pod))
    model.do(lambda: cache.remove_node(on[1]))
    assert model.get(lambda: [snapshot.listed[n] for n in on]) == [False, True]


def test_a_lists():
    """Topology spread counts the pods of a node that the list has twice twice, inter-pod affinity's scores count them once."""
    zone = "topology.kubernetes.io/zone"
    on = tuple(Node(i, f"{z}{i}", 2, {zone: z}) for i, z in enumerate("ab"))
    labelled = {"app": "x"}
    near = Term(labelled, zone, required=False, weight=1)
    even = SpreadConstraint(zone, max_skew=1, selector=Selector(labelled))
    pods = [
        Pod(0, "x", 1, node=on[0], labels=labelled),
        Pod(1, "p", 1, terms=(near,)),
        Pod(2, "q", 1, spread=(even,)),
    ]
    model = concrete(spec(pods, on, node_creations=1), "1.18")
    snapshot, filters, scores = (model.part(name) for name in ("snapshot", "filters", "scores"))
    model.do(snapshot.update)
    model.do(lambda: snapshot.twice.__setitem__(on[0], True))

    def counted():
        return filters.domains(pods[2], even, snapshot.placement())["a"][1]

    assert model.get(counted) == 2
    assert model.get(lambda: scores.raw(pods[1], on[0], snapshot.placement())) == 1


def test_a_informers():
    p = Pod(0, "p", 1)
    model = concrete(spec([p], nodes(1), pod_deletions=1, relists=1), "1.19")
    watch = model.part("pod_watch")
    model.do(lambda: model.part("api").delete_pod(p))
    model.do(watch.resume)
    assert model.get(lambda: watch.own.length) == 1, "the other watch goes on"


def test_a_tree():
    key = "topology.kubernetes.io/zone"
    on = (Node(0, "n", 1, {key: "a"}), Node(1, "m", 1, {key: "b"}))
    model = concrete(spec([Pod(0, "p", 1)], on), "1.22")
    tree = model.part("node_tree")
    model.do(lambda: tree.add(on[0], tree.zone_by_labels(on[1])))
    assert model.get(lambda: tree.size) == 2


def test_a_held_back():
    """DefaultPreemption held p back, and it comes to backoffQ: it is not popped before the backoff ends."""
    (n0,), p = nodes(2), Pod(0, "p", 1, 10)
    model = concrete(spec([p], (n0,)), "1.37")
    queue = model.part("queue")
    model.do(lambda: queue.put(p, SubQueue.UNSCHEDULABLE, PodCopy()))

    def hold() -> None:
        queue.gated[p] = True

    model.do(hold)
    model.do(lambda: queue.move_all(ANY_EVENT))
    assert model.get(lambda: queue.sub_queue[p]) is SubQueue.BACKOFF
    assert not model.get(lambda: queue.is_popped_early(p))


def test_a_moves():
    on, moved, queued = nodes(2), Pod(0, "moved", 1, 1), Pod(1, "queued", 1, 10)
    model = concrete(spec([moved, queued], on, backoff=False), "1.36")
    queue, scheduler = model.part("queue"), model.part("scheduler")
    model.do(lambda: queue.put(moved, SubQueue.UNSCHEDULABLE, PodCopy()))
    model.do(queue.move_all)
    assert not enabled(model, lambda: scheduler.pop_amid_move(queued))
    assert not enabled(model, lambda: scheduler.pop_amid_move(moved)), "another comes before it"
    model.do(lambda: queue.put(queued, SubQueue.NONE, PodCopy()))
    model.do(lambda: queue.put(moved, SubQueue.UNSCHEDULABLE, PodCopy()))
    model.do(queue.move_all)
    assert enabled(model, lambda: scheduler.pop_amid_move(moved))


@pytest.mark.parametrize("release", ["1.9", "1.13", "1.14"])
def test_a_preempt_snapshot(release):
    (n0,) = nodes(2)
    v, p = Pod(0, "v", 2, 0, node=n0, graceful=False), Pod(1, "p", 2, 10)
    model = concrete(spec([v, p], (n0,), pod_deletions=1), release)
    scheduler, snapshot = model.part("scheduler"), model.part("snapshot")
    if enabled(model, partial(model.part("scheduler").pop, p)):
        model.do(partial(scheduler.pop, p))
    if "list_nodes" in dir(scheduler) and enabled(model, partial(scheduler.list_nodes, p)):
        model.do(partial(scheduler.list_nodes, p))
    for step in (
        partial(scheduler.take_snapshot, p),
        partial(scheduler.filter, p, n0),
        partial(model.part("users").delete_pod, v),
        partial(model.part("handlers").handle_for_cache, v),
        partial(scheduler.fail, p),
        partial(model.part("failure").patch, p),
        partial(scheduler.reread_preemptor, p),
    ):
        model.do(step)
    assert model.get(lambda: snapshot.pod[v].node) == n0  # though the cache has it no longer
    assert model.get(lambda: model.part("cache").on(v, n0)) is False


def claim_cluster():
    """Two pods share a claim, on a node with two devices of its class, and a third of another."""
    node = Node(0, "n", 2)
    pods = [Pod(0, "p", 1, claims=("c",)), Pod(1, "q", 1, claims=("c",))]
    devices = (Device(0, "d", node), Device(1, "e"), Device(2, "f", node, of="nic"))
    return ClusterSpec("claims", tuple(pods), (node,), devices=devices, claims=(Claim(0, "c"),))


def test_a_claim_kinds():
    model = concrete(claim_cluster(), "1.36")
    plugin, scheduler = model.part("dynamic_resources"), model.part("scheduler")
    pod, node = plugin.universe[Pod][0], plugin.universe[Node][0]
    model.do(lambda: scheduler.pop(pod))
    model.do(lambda: scheduler.take_snapshot(pod))
    use = plugin.universe[ClaimUse][0]
    for one in (plugin.get_claim, plugin.check_claim):
        model.do(partial(one, use))
    model.do(lambda: plugin.list_devices(pod))
    model.do(lambda: plugin.add_in_flight(pod))
    model.do(lambda: scheduler.filter(pod, node))
    model.do(lambda: scheduler.assume(pod, node))
    model.do(lambda: scheduler.start_binding(pod))
    for device in plugin.universe[Device]:
        assert enabled(model, partial(plugin.reserve_claim, use, device)) is (device.of == "")


def test_a_claim_slices():
    (scenario,) = find_scenarios("scenarios/claims/published-late.yaml")
    system = trace_system(build_cluster(scenario.spec, resolve("1.36").classes))
    steps = {t.label.partition("(")[0] for t in system.transitions if "slice" in t.part}
    assert steps == {
        "device_slices.publish", "device_slices.withdraw", "device_slices.collect", "slice_informer.deliver",
    }  # fmt: skip
    kept = [v.name for v in system.variables if "slice" in v.name]
    assert kept == ["device_slices.published[gpu1]", "slice_informer.shown[gpu1]"]  # no pool, no generation
    none = trace_system(build_cluster(claim_cluster(), resolve("1.36").classes))
    assert not [v.name for v in none.variables if "slice" in v.name]


def test_a_claim_taints():
    (scenario,) = find_scenarios("scenarios/claims/device-tainted.yaml")
    system = trace_system(build_cluster(scenario.spec, resolve("1.36").classes))
    steps = {t.label.partition("(")[0] for t in system.transitions if "taint" in t.label}
    assert steps == {"device_taints.taint", "device_taints.evict", "slice_informer.deliver_taint"}
    tainted = [v.name for v in system.variables if "tainted" in v.name]
    assert tainted == [
        "device_taints.tainted[gpu1]", "device_taints.tainted[gpu2]", "slice_informer.tainted[gpu1]", "slice_informer.tainted[gpu2]",
        "dynamic_resources.listed_tainted[gpu1]", "dynamic_resources.listed_tainted[gpu2]",
    ]  # fmt: skip
    evictions = [t for t in system.transitions if t.step == "evict" and t.part == "device_taints"]
    assert len(evictions) == 1  # by the objects as they are: it has no view of its own


def test_a_claim_finalizer():
    system = trace_system(build_cluster(claim_cluster(), resolve("1.36").classes))
    writes = {t.step for t in system.transitions if t.part == "dynamic_resources" and "write" in t.step}
    assert writes == {"write_claim"}


def test_a_claim_controller():
    system = trace_system(build_cluster(claim_cluster(), resolve("1.36").classes))
    assert not [v.name for v in system.variables if v.name.startswith("claim_controller.")]


def test_a_claim_lives():
    (scenario,) = find_scenarios("scenarios/claims/made-from-template.yaml")
    steps = steps_of("1.36", scenario.spec)
    assert {"claim_maker.make_claim", "claim_maker.name_claims", "claim_deletions.release_claim"} <= steps
    system = trace_system(build_cluster(scenario.spec, resolve("1.36").classes))
    assert {v.hi for v in system.variables if v.name.endswith(".life")} == {3}
    assert not [v.name for v in system.variables if "finalizer" in v.name]


def test_a_claim_clock():
    (scenario,) = find_scenarios("scenarios/claims/device-late.yaml")
    steps = steps_of("1.36", scenario.spec)
    assert {
        "dynamic_resources.see_ready",
        "dynamic_resources.tire_of_devices",
        "device_driver.report_ready",
    } <= steps
    system = trace_system(build_cluster(scenario.spec, resolve("1.36").classes))
    late = [v.name for v in system.variables if "timed_out" in v.name]
    assert late == ["resource_claims.timed_out[c1]"]  # of the claim, and not of each copy of it
    ready = [t for t in system.transitions if t.label.startswith("dynamic_resources.see_ready")]
    assert len(ready) == 1  # for the pod, and not for each of its claims


def test_a_claim_lag():
    system = trace_system(build_cluster(claim_cluster(), resolve("1.36").classes))
    assert {v.hi for v in system.variables if ".lag" in v.name or "_lag" in v.name} == {7}


def test_a_claim_emit():
    steps = steps_of("1.34", claim_cluster())
    assert {"claim_cache.take", "claim_cache.tell_late"} <= steps
    assert "claim_cache.take" not in steps_of("1.36", claim_cluster())


def volume_cluster():
    """A pod whose claim waits for a consumer, on two nodes with a volume each, and a class with a provisioner."""
    on = nodes(2, 2)
    of = StorageClass("csi", provisions=True)
    volumes = (
        Volume(0, "v", of, on[:1]),
        Volume(1, "w", of),
        Volume(2, "made", of, exists=False, provisioned_for="c"),
    )
    pods = (Pod(0, "p", 1, volumes=("c",)),)
    return ClusterSpec("volumes", pods, on, volumes=volumes, volume_claims=(VolumeClaim(0, "c", of),))


def at_reserve():
    """The pod is assumed on the first node, and Reserve has looked whether its claims are bound."""
    model = concrete(volume_cluster(), "1.36")
    plugin, scheduler = model.part("volume_binding"), model.part("scheduler")
    pod, (node, other) = plugin.universe[Pod][0], plugin.universe[Node]
    for act in (
        partial(scheduler.pop, pod),
        partial(scheduler.take_snapshot, pod),
        partial(plugin.read_claim, plugin.universe[VolumeUse][0]),
        partial(plugin.list_volumes, pod),
        partial(scheduler.filter, pod, node),
        partial(scheduler.filter, pod, other),
        partial(scheduler.assume, pod, node),
        partial(scheduler.start_binding, pod),
        partial(plugin.look_again, pod),
    ):
        model.do(act)
    return model, plugin


def test_a_volume_kinds():
    model, plugin = at_reserve()
    use = plugin.universe[VolumeUse][0]
    v, w, made = plugin.universe[Volume]
    assert enabled(model, partial(plugin.assume_volume, use, v))
    assert enabled(model, partial(plugin.assume_volume, use, w))
    assert not enabled(model, partial(plugin.assume_volume, use, made))


def volume_system(release="1.36"):
    return trace_system(build_cluster(volume_cluster(), resolve(release).classes))


def test_a_volume_phase():
    assert not [v.name for v in volume_system().variables if "phase" in v.name and "storage" in v.name]


def test_a_volume_controller():
    kept = {v.name for v in volume_system().variables if v.name.startswith("pv_controller.")}
    assert kept
    assert not [name for name in kept if name.startswith("pv_controller.claim")]
    begun = {v.name for v in volume_system().variables if v.name.startswith("provisioner.")}
    assert begun == {"provisioner.busy[c]", "provisioner.node[c]"}


def test_a_volume_reads():
    steps = {t.step for t in volume_system().transitions if t.part == "volume_binding"}
    assert {"read_claim", "look_again", "check_bindings"} <= steps
    assert not [name for name in steps if "lister" in name]


def test_a_volume_events():
    assert not [v.name for v in volume_system().variables if v.name.startswith("volume_cache.events")]
    stores = [t for t in volume_system().transitions if t.step in ("store_volumes", "store_claims")]
    assert len(stores) == 2


def test_a_volume_lister():
    assert {t.step for t in volume_system("1.34").transitions if t.part == "volume_cache"} == {
        "store_volumes", "store_claims", "tell_of_volumes", "tell_of_claim", "tell_ahead_of_volumes", "tell_ahead_of_claim",
    }  # fmt: skip


def test_a_volume_lag():
    names = ("lag", "since")
    assert {v.hi for v in volume_system().variables if any(n in v.name for n in names)} == {7}


def test_a_csi():
    (scenario,) = find_scenarios("scenarios/volumes/limit-told-late.yaml")
    system = trace_system(build_cluster(scenario.spec, resolve("1.37.2").classes))
    steps = {t.label.partition("(")[0] for t in system.transitions if t.part.startswith("csi_")}
    assert steps == {
        "csi_nodes.update", "csi_nodes.attach", "csi_nodes.detach", "csi_informers.deliver_limit", "csi_informers.deliver_attachment",
    }  # fmt: skip
    kept = {v.name.partition("[")[0] for v in system.variables if v.name.startswith("csi_")}
    assert kept == {
        "csi_nodes.updated",
        "csi_nodes.attached",
        "csi_informers.shown",
        "csi_informers.attached",
    }
    assert not [v.name for v in volume_system().variables if v.name.startswith("csi_")]


def group_cluster():
    """A gang of two pods, of which the second is the more important, on a node."""
    pods = (Pod(0, "p", 1, group="g"), Pod(1, "q", 1, group="g"), Pod(2, "r", 1, 5, group="g"))
    return ClusterSpec("gang", pods, (Node(0, "n", 3),), groups=(PodGroup(0, "g", 2),))


def groups_of(release):
    """The gang where its gate is on."""
    return trace_system(
        build_cluster(group_cluster(), resolve(release, (), (), {"GangScheduling": True}).classes)
    )


def test_a_group_objects():
    assert not {t.label for t in groups_of("1.36").transitions if t.part == "pod_groups"}


def test_a_group_order():
    model = build_cluster(group_cluster(), resolve("1.36", (), (), {"GangScheduling": True}).classes)
    cycle = model.parts["pod_group_cycle"]
    (group,) = cycle.universe[PodGroup]
    assert [m.pod.name for m in cycle.in_order(group)] == ["r", "p", "q"]


def test_a_group_steps():
    steps = [t.label for t in groups_of("1.36").transitions if t.part == "pod_group_cycle"]
    assert len([s for s in steps if "take_snapshot" in s]) == 3


def test_a_group_manager():
    names = {t.label.split("(")[0] for t in groups_of("1.35.4").transitions if t.part == "handlers"}
    assert not [name for name in names if "manager" in name]


def test_a_group_snapshot():
    assert "pod_group_cycle.forget" not in {t.label.split("(")[0] for t in groups_of("1.36").transitions}


def test_a_group_preempt():
    """The choice of all victims and the start of their goroutine are one step."""
    (scenario,) = find_scenarios("scenarios/groups/victims-gone-already.yaml")
    classes = resolve("1.37.2", (), (), {"GenericWorkload": True}).classes
    system = trace_system(build_cluster(scenario.spec, classes))
    chosen = {
        t.label
        for t in system.transitions
        if {"async_preemption.victim[a][v]", "async_preemption.phase[a]"} <= {v.name for v in t.updates}
        and t.part == "pod_group_cycle"
    }
    assert chosen == {"pod_group_cycle.reprieve(pod=a)", "pod_group_cycle.reprieve(pod=b)"}


def test_a_group_kinds():
    system = groups_of("1.36")
    assert not [t for t in system.transitions if "placement" in t.label or "time_out" in t.label]
    assert [t for t in system.transitions if "dry_run" in t.label]
    (scenario,) = find_scenarios("scenarios/groups/one-domain-each.yaml")
    placed = resolve("1.38.0-beta.0", (), (), dict(scenario.feature_gates)).classes
    weighed = {
        t.label for t in trace_system(build_cluster(scenario.spec, placed)).transitions if "weigh" in t.label
    }
    assert {
        "pod_group_cycle.weigh(pod=a, better=True)",
        "pod_group_cycle.weigh(pod=a, better=False)",
    } <= weighed


def test_a_group_trees():
    with pytest.raises(GateProblem, match=r"only the trees of 1\.38 are modelled \(A-GROUP-TREES\)"):
        resolve("1.37.2", (), (), {"CompositePodGroup": True})
    (scenario,) = find_scenarios("scenarios/groups/tree-or-nothing.yaml")
    trees = resolve("1.38.0-beta.0", (), (), dict(scenario.feature_gates)).classes
    labels = {t.label for t in trace_system(build_cluster(scenario.spec, trees)).transitions}
    assert {f"pod_group_cycle.pick(pod=a, group={group})" for group in "gh"} <= labels
    assert "pod_group_cycle.pick(pod=a, group=c)" not in labels


def test_a_group_tracker():
    """The handler tells the cache and the tracker of a pod in one step."""
    pods = (Pod(0, "a", 1, group="g"), Pod(1, "b", 1, group="g", exists=False))
    spec = ClusterSpec("g", pods, (Node(0, "n", 2),), Scope(pod_creations=1), groups=(PodGroup(0, "g", 2),))
    classes = resolve("1.38.0-beta.0", (), (), {"GenericWorkload": True}).classes
    system = trace_system(build_cluster(spec, classes))
    tells = [{v.name for v in t.updates} for t in system.transitions if t.part == "handlers"]
    both = {"pod_group_states.known[b]", "pod_group_states.tracked[b]"}
    assert [both <= told for told in tells if both & told and "handlers.adding[b]" in told] == [True]
