"""Which of several equal pods came first: whatever the scenario does not say is open, and is settled by who is taken first."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from podrace.checker.search import check
from podrace.model.environment.objects import Pod
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, Property, instrument
from podrace.scenarios.reader.scenario_reader import parse_scenario
from tests.model.clusters import concrete, nodes, spec
from tests.profiles import examples


class First(Property):
    """b never has a place before a has one."""

    id = "MY-FIRST"
    kind = "invariant"

    def holds(self):
        a, b = (next(p for p in self.pods if p.name == name) for name in "ab")
        return ~self.cache.is_assumed(b) | self.cache.is_assumed(a)


def scenario(pods: str, scope: str = "") -> str:
    return f"nodes: {{n1: {{cpu: 2}}}}\npods: {{{pods}}}\nscope: {{pod_events: 2, flush: false{scope}}}\n"


A, B = "a: {cpu: 2}", "b: {cpu: 1}"


def found(text: str, release: str = "1.34", prop: type[Property] = PROPERTIES["S-CAP"]):
    system = instrument(parse_scenario(text).spec, resolve(release).classes, [prop])
    (result,) = check(system, [prop.id])
    steps = () if result.trace is None else tuple(f"{s.part}.{s.step} {s.args}" for s in result.trace.steps)
    return result.verdict.name, result.counts.states, result.counts.transitions, result.counts.depth, steps


def test_two_files_that_differ_in_the_order_of_their_pods_have_one_verdict():
    """One order had 305 states and held, the other one violated the property."""
    first, second = (found(scenario(pods), prop=First) for pods in (f"{A}, {B}", f"{B}, {A}"))
    assert first[:4] == ("VIOLATED", 9, 8, 4)
    assert first == second
    assert found(scenario(f"{A}, {B}"))[:4] == found(scenario(f"{B}, {A}"))[:4] == ("HOLDS", 609, 1552, 22)


def test_a_scenario_may_ask_for_the_order_of_the_file():
    fixed = ", file_order: true"
    assert found(scenario(f"{A}, {B}", fixed), prop=First)[:2] == ("HOLDS", 305)
    assert found(scenario(f"{B}, {A}", fixed), prop=First)[:2] == ("VIOLATED", 5)


def test_times_of_creation_say_who_came_first():
    early, late = (f"creationTimestamp: 2026-03-01T08:00:0{second}Z" for second in (0, 1))
    assert found(scenario(f"b: {{cpu: 1, {late}}}, a: {{cpu: 2, {early}}}"), prop=First)[:2] == ("HOLDS", 305)
    assert found(scenario(f"a: {{cpu: 2, {late}}}, b: {{cpu: 1, {early}}}"), prop=First)[0] == "VIOLATED"
    alike = scenario(f"a: {{cpu: 2, {late}}}, b: {{cpu: 1, {late}}}")
    assert found(alike, prop=First)[:2] == ("VIOLATED", 9)


def equals(*priorities: int, **scope):
    pods = [Pod(i, f"p{i}", 1, priority) for i, priority in enumerate(priorities)]
    model = concrete(spec(pods, nodes(9), file_order=False, **scope), "1.34")
    return model, model.part("queue"), pods


def heads(model, queue, pods):
    return [p for p in pods if model.get(lambda p=p: queue.is_head(p))]


def orders(*priorities: int) -> set[str]:
    """Every order in which Pop may take the pods."""
    _, _, pods = equals(*priorities)
    possible = set()
    for order in permutations(range(len(pods))):
        model, queue, own = equals(*priorities)
        for i in order:
            if own[i] not in heads(model, queue, own):
                break
            model.do(lambda i=i: queue.pop(own[i]))  # noqa: B023
        else:
            possible.add("".join(map(str, order)))
    return possible


def test_every_order_of_equals_and_no_other_is_possible():
    assert orders(5, 5, 5) == {"".join(map(str, o)) for o in permutations(range(3))}
    assert orders(1, 5, 5) == {"120", "210"}
    assert orders(3, 2, 1) == {"012"}


def test_what_was_settled_stays_settled():
    model, queue, pods = equals(5, 5, 5)
    model.do(lambda: queue.pop(pods[1]))
    model.do(lambda: queue.begin_failure(pods[1]))
    model.do(lambda: queue.requeue(pods[1], queue.copy[pods[1]]))
    model.do(queue.move_all)
    model.do(lambda: queue.flush_backoff(pods[1]))
    assert heads(model, queue, pods) == [pods[0], pods[2]]  # not yet pod 1, which has a new timestamp
    model.do(lambda: queue.pop(pods[2]))
    model.do(lambda: queue.pop(pods[0]))
    assert heads(model, queue, pods) == [pods[1]]


@pytest.mark.parametrize("file_order", [False, True])
def test_a_new_process_finds_its_pods_in_any_order(file_order):
    pods = [Pod(i, f"p{i}", 1, 5) for i in range(3)]
    model = concrete(spec(pods, nodes(9), file_order=file_order, restarts=1), "1.34")
    queue = model.part("queue")
    model.do(lambda: queue.pop(pods[0]))
    model.do(model.part("process").restart)
    assert heads(model, queue, pods) == (pods[:1] if file_order else pods)
    model.do(lambda: queue.pop(pods[0]))
    assert heads(model, queue, pods) == (pods[1:2] if file_order else pods[1:])


def waiting(cpus_and_priorities, order=None):
    """Pods that wait, with times of creation if an order is given."""
    lines = []
    for i, (cpu, priority) in enumerate(cpus_and_priorities):
        time = "" if order is None else f", creationTimestamp: 2026-01-01T00:00:0{order.index(i)}Z"
        name = "abc"[i]
        lines.append(f"{name}: {{cpu: {cpu}, priority: {priority}, terminationGracePeriodSeconds: 0{time}}}")
    return lines


WAITING = st.lists(st.tuples(st.integers(1, 2), st.integers(0, 1)), min_size=2, max_size=3)


@pytest.mark.ci
@given(WAITING, st.sampled_from(["1.14", "1.28", "1.36"]), st.sampled_from(["", ", pod_deletions: 1"]))
@settings(max_examples=examples(12), deadline=None)
def test_what_some_order_violates_any_order_violates_in_as_few_steps(pods, release, faults):
    orders = permutations(range(len(pods)))
    fixed = [found(scenario(", ".join(waiting(pods, order)), faults), release, First) for order in orders]
    shortest = min((len(steps) for verdict, *_, steps in fixed if verdict == "VIOLATED"), default=None)
    verdict, *_, steps = found(scenario(", ".join(waiting(pods)), faults), release, First)
    assert (verdict, len(steps) or None) == ("HOLDS" if shortest is None else "VIOLATED", shortest)


PODS = st.lists(
    st.tuples(st.integers(1, 2), st.integers(0, 1), st.sampled_from(["", ", nodeName: n1"])),
    min_size=2,
    max_size=3,
).filter(lambda pods: sum(cpu for cpu, _, where in pods if where) <= 2)


@pytest.mark.ci
@given(
    PODS,
    st.data(),
    st.sampled_from(["1.14", "1.19", "1.34", "1.36"]),
    st.sampled_from(["", "", ", restarts: 1", ", leader_changes: 1", ", pod_deletions: 1"]),
)
@settings(max_examples=examples(20), deadline=None)
def test_permuting_the_pods_of_a_file_changes_no_verdict_and_no_count(pods, data, release, faults):
    """Not of victims that are equally important: their order is the file's (A-VICTIMS). So is that of the events of a list up to 1.27, where a
    new process schedules before its handlers were given all of it (A-RELIST)."""
    assume(not (faults == ", restarts: 1" and release in ("1.14", "1.19")))
    lines = [
        f"p{i}: {{cpu: {cpu}, priority: {priority}{where}, terminationGracePeriodSeconds: 0"
        + (f", startTime: 2026-01-01T00:00:0{i}Z" if where else "")
        + "}"
        for i, (cpu, priority, where) in enumerate(pods)
    ]
    other = data.draw(st.permutations(lines))
    one, two = (found(scenario(", ".join(some), faults), release)[:4] for some in (lines, other))
    assert one == two
