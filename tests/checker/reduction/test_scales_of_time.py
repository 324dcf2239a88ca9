"""Minutes pass only while nothing shorter is under way: on small systems by hand, on random ones against the definition."""

from __future__ import annotations

import importlib
import pkgutil
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace import model
from podrace.analysis.chain import verdict_on
from podrace.analysis.findings import finding_of
from podrace.analysis.request.plan import Run, Selection, plan
from podrace.analysis.shown.believable import believable
from podrace.analysis.systems import system_of
from podrace.base.problems import UsageProblem
from podrace.checker.core.exploration import Budget, Path
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.core.result import Verdict
from podrace.checker.explicit.reference import explore
from podrace.checker.reduction.scales_of_time import confirm_time, with_scales
from podrace.checker.reduction.slicing import transition_map
from podrace.checker.reduction.slow_steps import SlowSteps, slow_steps
from podrace.checker.search import Engine, check
from podrace.checker.trace.execution import ReplayError, confirm, replay
from podrace.checker.trace.fingerprint import fingerprint
from podrace.model.environment.cluster.scope import SHORT_ACTORS
from podrace.model.history import resolve
from podrace.model.language import (
    BOOL,
    Component,
    Lasts,
    Model,
    State,
    TransitionSystem,
    Universe,
    Variable,
    as_expr,
    boolean,
    build,
    integer,
    require,
    step,
    trace_system,
)
from podrace.model.language.expressions.expr import fresh_graph, variable
from podrace.properties.base.instrument import with_slow
from podrace.reports.document import Finding, WithScales
from podrace.reports.text.findings_text import scope_words
from podrace.reports.verdict_words import verdict_words
from podrace.scenarios import Scenario, find_scenarios
from podrace.scenarios.reader.scenario_reader import parse_scenario
from tests.checker.slices import slice_system
from tests.profiles import examples
from tests.random_systems import coupled, systems


class Queue(Component):
    """A pod is parked by work of two steps, and then flushed; a user begins further work."""

    work = integer(0, 2)
    parked = boolean()
    flushed = boolean()
    asked = boolean()
    noise = integer(0, 1)

    steps_last = Lasts.SHORT

    def setup(self) -> None:
        self.work = 2

    @step(actor="worker")
    def go_on(self) -> None:
        require(self.work > 0)
        self.parked = True
        self.work -= 1

    @step(actor="user", fair=False)
    def ask(self) -> None:
        require(~self.asked)
        self.asked = True
        self.work = 2

    @step(actor="timer", fair=False, lasts=Lasts.MINUTES)
    def flush(self) -> None:
        require(self.parked)
        self.parked = False
        self.flushed = True


class Noisy(Queue):
    """Something goes on at all times that the queue never sees."""

    @step(actor="noise")
    def hum(self) -> None:
        self.noise = 1 - self.noise


class Quietening(Queue):
    """The same, which ends."""

    @step(actor="noise")
    def hum(self) -> None:
        require(self.noise == 0)
        self.noise = 1


class Retrying(Queue):
    """The same work is begun again by itself, without end."""

    @step(actor="worker")
    def retry(self) -> None:
        require((self.work == 0) & self.parked)
        self.work = 1


class Modelled(Model):
    queue: Queue


def traced(change: type[Component], invariant: str, scales: bool = True) -> TransitionSystem:
    model = build(Modelled, Universe({}), [change] if change is not Queue else [])
    queue = model.parts["queue"]
    asked = {
        "never amid its work": lambda: ~(queue.flushed & (queue.work == 1) & ~queue.asked),
        "never amid asked work": lambda: ~(queue.flushed & (queue.work == 1)),
        "never": lambda: ~queue.flushed,
    }
    return replace(trace_system(model, invariants={invariant: asked[invariant]}), scales=scales)


def verdict(system: TransitionSystem) -> tuple[Verdict, list[str]]:
    (result,) = check(system)
    return result.verdict, [] if result.trace is None else [s.step for s in result.trace.steps]


def test_a_flush_waits_until_nothing_is_under_way() -> None:
    assert verdict(traced(Queue, "never amid its work", scales=False)) == (
        Verdict.VIOLATED,
        ["go_on", "flush"],
    )
    assert verdict(traced(Queue, "never amid its work")) == (Verdict.HOLDS, [])
    assert verdict(traced(Queue, "never")) == (Verdict.VIOLATED, ["go_on", "go_on", "flush"])


def test_a_flush_that_is_due_comes_amid_anything() -> None:
    run = ["go_on", "go_on", "ask", "go_on", "flush"]
    assert verdict(traced(Queue, "never amid asked work"))[1] == run


def test_what_the_slice_does_not_see_comes_to_rest_first() -> None:
    system = traced(Quietening, "never")
    assert verdict(system) == (Verdict.VIOLATED, ["go_on", "go_on", "flush"])
    sliced = with_scales(slice_system(system))
    assert [t.step for t in sliced.transitions] == ["go_on", "ask", "flush"]
    numbers = transition_map(sliced, system)
    rested = confirm_time(sliced, system, numbers, (0, 0, 2))
    assert rested is not None
    assert [system.transitions[n].step for n in rested] == ["go_on", "go_on", "hum", "flush"]


def test_minutes_pass_in_what_never_rests() -> None:
    system = traced(Noisy, "never")
    sliced = with_scales(slice_system(system))
    assert confirm_time(sliced, system, transition_map(sliced, system), (0, 0, 2)) is None
    assert verdict(system) == (Verdict.VIOLATED, ["go_on", "go_on", "flush"])


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_where_work_never_ends_timers_fire_at_any_moment(engine: Engine) -> None:
    system = traced(Retrying, "never amid its work")
    timed = with_scales(slice_system(system))
    assert [name for name, waits in timed.views.items()] == ["time.waits[0]"]
    assert explore(timed, Budget()).violations == {}
    (result,) = check(system, engine=engine)
    assert (result.verdict, result.coverage.endless) == (Verdict.VIOLATED, True)
    assert verdict_words(result).endswith(
        " Work can go on endlessly here, so timers fire at any moment, as with `time: any`."
    )
    (ends,) = check(traced(Queue, "never amid its work"), engine=engine)
    assert not ends.coverage.endless


def test_a_search_for_endless_work_that_breaks_off_leaves_open_whether_a_property_holds() -> None:
    system = traced(Queue, "never amid its work")
    (result,) = check(system, budget=Budget(max_states=7))
    assert (result.verdict, result.stopped) == (Verdict.INCONCLUSIVE, "states")


def test_without_scales_or_timers_nothing_is_added() -> None:
    system = traced(Queue, "never", scales=False)
    assert with_scales(system) is system
    steps = tuple(replace(t, lasts=Lasts.SHORT) for t in system.transitions)
    assert with_scales(replace(system, transitions=steps, scales=True)).variables == system.variables
    assert fingerprint(system) != fingerprint(replace(system, scales=True))


def test_the_slow_step_is_named() -> None:
    system = traced(Queue, "never")
    assert slow_steps(system, (0, 0, 2)) == []
    assert slow_steps(system, (0, 2)) == [SlowSteps(timer=2, since=1, slow=(0,))]
    assert slow_steps(system, (1, 0, 0, 2)) == []


def test_a_scenario_asks_for_scales_and_its_verdict_says_so() -> None:
    (scenario,) = find_scenarios("gone-victim")
    scope = replace(scenario.spec.scope, time="scales")
    timed = replace(scenario, spec=replace(scenario.spec, scope=scope))

    def found(asked: Scenario) -> Finding:
        return verdict_on(Run(asked, resolve("1.36.3"), "S-STUCK"), Budget())

    anytime, scaled = found(scenario), found(timed)
    assert (anytime.verdict, anytime.depth, scaled.verdict) == ("VIOLATED", 35, "HOLDS")
    assert "nothing under way takes minutes" in scope_words(scaled.scope)
    assert "time" not in anytime.scope
    last = "async_preemption.evict_last(pod=p, victim=v, ok=True) (preemption goroutine)"
    assert anytime.notes[-1] == (
        f"minutes must pass before step 18. During these minutes, {last} must not happen, although it is possible from step 15 on. "
        "`--time scales` excludes such a delay, and --slow 'preemption goroutine' allows it"
    )
    assert anytime.words.startswith("Violated after 35 steps, and no run is shorter")
    assert anytime.words.endswith(
        " The violation needs a delay of minutes: with `time: scales`, the property holds (381 states)."
        " podrace shows a run of 36 steps, in which only the preemption goroutine is slow. In a shortest run, other short work takes minutes."
    )
    assert anytime.with_scales == WithScales("HOLDS", 381, ("preemption goroutine",))
    assert anytime.marked == "VIOLATED (only with a delay of minutes)"


def shown(system: TransitionSystem, engine: Engine = "native") -> tuple[list[str], str, WithScales | None]:
    (result,) = check(system, engine=engine)
    found = believable(system, result, Budget(), engine)
    assert found.result.trace is not None
    assert replace(found.result, trace=None) == replace(result, trace=None)
    return [s.step for s in found.result.trace.steps], found.words or "", found.with_scales


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_run_that_a_reviewer_believes_is_shown(engine: Engine) -> None:
    steps, words, timed = shown(traced(Queue, "never", scales=False), engine)
    assert steps == ["go_on", "go_on", "flush"]
    assert words.startswith("Violated after 2 steps, and no run is shorter")
    assert "podrace shows a run of 3 steps, in which no short work takes minutes" in words
    assert timed is not None
    assert (timed.verdict, timed.slow, timed.mark, "delay" in words) == ("VIOLATED", (), "", False)
    steps, words, timed = shown(traced(Queue, "never amid its work", scales=False), engine)
    assert steps == ["go_on", "flush"]
    assert (
        "The violation needs a delay of minutes: with `time: scales`, the property holds (16 states)."
        in words
    )
    assert "podrace shows a run of 2 steps, in which only the worker is slow" in words
    assert timed == WithScales("HOLDS", 16, ("worker",))
    assert shown(traced(Queue, "never amid asked work"), engine)[1:] == ("", None)


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_where_scales_say_nothing_or_end_too_soon_no_delay_is_claimed(engine: Engine) -> None:
    system = traced(Retrying, "never amid its work", scales=False)
    assert shown(system, engine)[1:] == ("", None)
    system = traced(Queue, "never amid its work", scales=False)
    (result,) = check(system, engine=engine)
    found = believable(system, result, Budget(max_states=7), engine)
    assert found.with_scales is not None
    assert (found.with_scales.verdict, found.with_scales.mark) == (
        "INCONCLUSIVE",
        "not decided: only with a delay of minutes?",
    )
    assert "Not decided whether the violation needs a delay of minutes" in (found.words or "")


def noting_timers(system: TransitionSystem) -> TransitionSystem:
    """The only invariant is that no timer has fired."""
    with fresh_graph():
        fired = Variable("fired", BOOL, 0, 1, 0)
        return replace(
            system,
            variables=(*system.variables, fired),
            transitions=tuple(
                replace(t, updates={**t.updates, fired: as_expr(True)}) if t.lasts is Lasts.MINUTES else t
                for t in system.transitions
            ),
            invariants={"never": ~variable(fired)},
            witnesses={},
        )


def a_run_that_is_shown_is_one(timed: TransitionSystem) -> None:
    system = noting_timers(timed)
    anytime = replace(system, scales=False)
    for name in system.invariants:
        (result,) = check(anytime, [name], engine="reference")
        told = believable(anytime, result, Budget())
        found, words = told.result, told.words
        if words is None or found.trace is None:
            assert found is result
            continue
        (scaled,) = check(system, [name], engine="reference")
        assert told.with_scales is not None
        assert told.with_scales.verdict == scaled.verdict.name
        if " podrace shows a run " not in words:
            continue
        confirm(anytime, found.trace.path, name)
        part = slice_system(anytime, invariants=[name], witnesses=[])
        numbers = {n: i for i, n in enumerate(transition_map(part, anytime))}
        path = [numbers[n] for n in found.trace.path]
        states = list(replay(part, tuple(path)).states)
        if "no short work takes minutes" in words:
            assert allowed(part, states, path)
        else:
            slow = words.partition("only the ")[2].partition(" is slow")[0]
            assert told.with_scales.slow == (slow,)
            assert allowed(with_slow(part, [slow]), states, path)
            assert explore(with_scales(replace(part, scales=True)), Budget()).violations == {}


def test_where_timers_fire_at_any_moment_after_all_the_scope_says_so() -> None:
    (run,) = plan(Selection(["gone-victim"], "1.36.3", properties=["S-CAP"], time="scales"))
    system = system_of(run)
    (result,) = check(system, ["S-CAP"])
    assert finding_of(run, system, result).scope["time"] == "scales"
    given_up = replace(result, coverage=replace(result.coverage, endless=True))
    assert finding_of(run, system, given_up).scope.keys().isdisjoint({"time", "slow"})


@pytest.mark.ci
def test_an_actor_that_is_slow_brings_a_run_back() -> None:
    asked = Selection(["gone-victim"], "1.36.3", slow=["failure handler", "preemption goroutine"])
    (run,) = plan(asked)
    found = verdict_on(run, Budget())
    assert (found.verdict, found.depth) == ("VIOLATED", 35)
    assert "nothing under way takes minutes, but for: failure handler, preemption goroutine" in scope_words(
        found.scope
    )
    assert found.notes[-1].startswith(
        "minutes must pass before step 16. During these minutes, failure.nominate(pod=p)"
    )
    with pytest.raises(
        UsageProblem, match="--slow: no actor is called `kubelet`: use scheduler, binding cycle"
    ):
        plan(replace(asked, slow=["kubelet"]))
    with pytest.raises(UsageProblem, match="--slow is for --time scales"):
        plan(replace(asked, time="any"))


def test_actors_that_may_be_slow_are_those_whose_steps_are_short() -> None:
    assert {actor for actor, _ in steps_that_last(Lasts.SHORT)} == set(SHORT_ACTORS)


def test_only_the_flush_waits_for_minutes() -> None:
    """A grace period, tolerationSeconds (of devices, too) or a lease may be as short as a call."""
    assert set(steps_that_last(Lasts.MINUTES)) == {("queue timers", "flush_unschedulable")}


def steps_that_last(scale: Lasts) -> Iterator[tuple[str, str]]:
    """The steps of the model of this scale, each with its actor."""
    modules(model)
    for part in parts_of(Component):
        for name, method in vars(part).items() if part.__module__.startswith("podrace.model.") else ():
            if (info := getattr(method, "__podrace_step__", None)) and info.scale(part) is scale:
                yield info.actor, name


def modules(package: ModuleType) -> None:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(found.name)


def parts_of(part: type[Component]) -> Iterator[type[Component]]:
    for below in part.__subclasses__():
        yield below
        yield from parts_of(below)


def test_a_liveness_and_a_range_have_no_scales_of_time() -> None:
    plain = "name: x\nscope: {time: scales, slow: [scheduler]}\nnodes: {n: {cpu: 1}}\npods: {p: {cpu: 1}}\n"
    for text, name, time in (
        (plain, "S-CAP", "scales"),
        (plain, "S-STUCK", "scales"),
        (plain, "L-PEND", "any"),
        (plain.replace("p: {cpu: 1}", "p: {cpu: 1..2}"), "S-CAP", "any"),
    ):
        scope = Run(parse_scenario(text), resolve("1.36.3"), name).scenario.spec.scope
        assert (scope.time, bool(scope.slow)) == (time, time == "scales")


Moment = tuple[State, frozenset[int]]

# --- random systems ------------------------------------------------------------------------------------------


@st.composite
def with_timers(draw: st.DrawFn) -> TransitionSystem:
    system = draw(st.one_of(systems(livenesses=0, resettabilities=0), coupled(resettabilities=0)))
    lasting = st.sampled_from((Lasts.SHORT, Lasts.SHORT, Lasts.MINUTES, Lasts.ANY_TIME))
    transitions = tuple(replace(t, lasts=draw(lasting)) for t in system.transitions)
    return replace(system, transitions=transitions, scales=True)


def allowed(system: TransitionSystem, states: list[State], path: Iterable[int]) -> bool:
    """The definition: each timer was armed from some quiet moment on until it fires."""
    interpreter = Interpreter(system)
    short = [n for n, t in enumerate(system.transitions) if t.lasts is Lasts.SHORT]
    quiet = [not interpreter.enabled(state, short) for state in states]
    for last, number in enumerate(path):
        t = system.transitions[number]
        if t.lasts is Lasts.MINUTES:
            armed = [interpreter.holds(t.guard, state) for state in states[: last + 1]]
            if not any(quiet[i] and all(armed[i:]) for i in range(last + 1)):
                return False
    return True


def runs(system: TransitionSystem, most: int, length: int) -> list[tuple[Path, list[State]]]:
    """The first runs, shortest first."""
    interpreter = Interpreter(system)
    found: list[tuple[Path, list[State]]] = []
    waiting: deque[tuple[Path, list[State]]] = deque([((), [system.initial])])
    while waiting and len(found) < most:
        path, states = waiting.popleft()
        found.append((path, states))
        if len(path) < length:
            for number in interpreter.enabled(states[-1]):
                waiting.append(((*path, number), [*states, interpreter.successor(states[-1], number)]))
    return found


@given(with_timers())
@settings(max_examples=examples(60))
def test_a_run_has_scales_of_time_if_each_timer_waited_and_else_a_slow_step_is_named(
    system: TransitionSystem,
) -> None:
    timed = with_scales(system)
    for path, states in runs(system, 150, 6):
        fits = allowed(system, states, path)
        assert fits == (not slow_steps(system, path))
        if fits:
            assert [s[: len(states[0])] for s in replay(timed, path).states] == states
        else:
            with pytest.raises(ReplayError):
                replay(timed, path)
    for path, states in runs(timed, 50, 6):
        assert [s[: len(system.variables)] for s in states] == list(replay(system, path).states)


class Timed:
    """The definition as a graph of states with the timers that are due there: those that were armed in a quiet moment, or while work went round."""

    def __init__(self, system: TransitionSystem) -> None:
        self.interpreter = Interpreter(system)
        self.short = [n for n, t in enumerate(system.transitions) if t.lasts is Lasts.SHORT]
        self.timers = {n: t.guard for n, t in enumerate(system.transitions) if t.lasts is Lasts.MINUTES}
        self.after: dict[Moment, set[Moment]] = {}
        self.taken: dict[Moment, set[tuple[int, Moment]]] = {}
        self.known_armed: dict[State, frozenset[int]] = {}
        self.known_ways: dict[tuple[Moment, int], set[Moment]] = {}
        """As long as `after` stays."""
        self.first = (system.initial, frozenset[int]())
        self._explore([self.first])
        while late := [self._late(moment) for moment in self.after]:
            known = len(self.after)
            self.known_ways.clear()
            for moment, more in zip(list(self.after), late, strict=True):
                if more != moment[1]:
                    self.after[moment].add((moment[0], more))
            self._explore([m for later in list(self.after.values()) for m in later])
            if len(self.after) == known:
                break

    def states(self) -> set[State]:
        return {state for state, _ in self.after}

    def _explore(self, waiting: list[Moment]) -> None:
        while waiting:
            moment = waiting.pop()
            if moment in self.after:
                continue
            state, due = moment
            if not self.interpreter.enabled(state, self.short):
                due = self._armed(state)
            self.after[moment], self.taken[moment] = set(), set()
            for number in self.interpreter.enabled(state):
                if number not in self.timers or number in due:
                    then = self.interpreter.successor(state, number)
                    self.after[moment].add((then, due & self._armed(then)))
                    self.taken[moment].add((number, (then, due & self._armed(then))))
            waiting += self.after[moment]

    def _armed(self, state: State) -> frozenset[int]:
        if state not in self.known_armed:
            armed = (n for n, guard in self.timers.items() if self.interpreter.holds(guard, state))
            self.known_armed[state] = frozenset(armed)
        return self.known_armed[state]

    def _late(self, moment: Moment) -> frozenset[int]:
        """What is due, and what waits on a way from the moment back to it."""
        state, due = moment
        return due | {n for n in self._armed(state) - due if self._comes_back(moment, n)}

    def _comes_back(self, moment: Moment, timer: int) -> bool:
        """Whether there is a way back on which the timer waits, and on which each short step is taken, or cannot be taken somewhere."""
        there = self._ways(moment, timer)
        back = {m for m in there if moment in self._ways(m, timer)}
        if moment not in there:
            return False
        acts = {n for m in back for n, then in self.taken[m] if then in back}
        waits = set(self.short) - acts
        return not any(all(n in self.interpreter.enabled(s, [n]) for s, _ in back) for n in waits)

    def _ways(self, moment: Moment, timer: int) -> set[Moment]:
        known = self.known_ways.get((moment, timer))
        if known is not None:
            return known
        seen, waiting = set[Moment](), [moment]
        while waiting:
            for then in self.after[waiting.pop()]:
                if then not in seen and timer not in then[1] and timer in self._armed(then[0]):
                    seen.add(then)
                    waiting.append(then)
        self.known_ways[moment, timer] = seen
        return seen


def verdicts_are_those_of_the_definition(system: TransitionSystem) -> None:
    if not system.invariants:
        return
    interpreter, states = Interpreter(system), Timed(system).states()
    for result in check(system):
        predicate = system.invariants[result.property_id]
        broken = any(not interpreter.holds(predicate, state) for state in states)
        (anytime,) = check(replace(system, scales=False), [result.property_id])
        if result.coverage.endless:
            assert result.verdict is anytime.verdict
        else:
            assert result.verdict is (Verdict.VIOLATED if broken else Verdict.HOLDS)
        if result.verdict is Verdict.VIOLATED:
            assert anytime.verdict is Verdict.VIOLATED
        elif anytime.trace is not None:  # what is lost has a step that takes minutes
            path = tuple(
                next(n for n, t in enumerate(system.transitions) if t.label == s.label)
                for s in anytime.trace.steps
            )
            assert slow_steps(system, path)


@given(with_timers())
@settings(max_examples=examples(60))
def test_a_run_that_is_shown_instead_of_the_shortest_is_one(system: TransitionSystem) -> None:
    a_run_that_is_shown_is_one(system)


@given(with_timers())
@settings(max_examples=examples(60))
def test_verdicts_with_scales_are_those_of_the_definition(system: TransitionSystem) -> None:
    verdicts_are_those_of_the_definition(system)


@pytest.mark.campaign
@given(with_timers())
@settings(max_examples=10_000)
def test_verdicts_of_ten_thousand_systems_are_those_of_the_definition(system: TransitionSystem) -> None:
    verdicts_are_those_of_the_definition(system)
