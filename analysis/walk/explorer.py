"""One system, to be walked: its states and steps as they are asked for, each computed once."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from ...base.problems import UsageProblem
from ...checker.core.exploration import Path
from ...checker.core.interpreter import Interpreter
from ...checker.reduction.scales_of_time import is_due, with_scales
from ...checker.trace.execution import step_between
from ...model.language import Expr, State, TransitionSystem, variables_of
from ...reports import states
from ...reports.answers.walk_report import (
    Barred,
    EventShown,
    FalseCondition,
    ViewShown,
    ViolatedHere,
    WalkShown,
    WalkStep,
    WalkTaken,
)
from ...reports.evidence import Memory
from ...reports.facts_told import event_words, facts_told
from ...reports.picture import Scene, scenes
from ...reports.step import ShownStep
from ...reports.text.explanation import notes_of, opening
from ..ask.monitor import conjuncts
from ..ask.steps_meant import call_of
from ..findings import assumed_in
from ..possible.obstacles import deciding, in_words, met_by
from ..request.plan import Run
from ..shown.evidence import cluster_of
from ..shown.steps import memory_of, step_of
from ..systems import system_of
from .walk import Walk
from .walked import watched

MOST_KEPT = 20_000
"""So many states are kept; then it begins again."""


class Explorer:
    """Says where a walk stands and what can come next. Each caller has its own walk: an explorer serves many.

    `names` are what the system is called, its release, and its title; `safety` is what each invariant says. Those that are `asked` for come first.
    """

    def __init__(
        self,
        system: TransitionSystem,
        names: tuple[str, str, str],
        safety: Mapping[str, str],
        asked: Collection[str],
        notes: tuple[str, ...] = (),
    ) -> None:
        self.system: TransitionSystem = replace(with_scales(system), views=system.views)
        self.safety, self.asked, self.notes = safety, asked, notes
        self.name, self.release, self.title = names
        self.interpreter = Interpreter(self.system)
        self._memory = memory_of(self.system, self.system.initial)
        self.calls: Mapping[str, int] = {call_of(t): n for n, t in enumerate(self.system.transitions)}
        self._states: dict[Path, State] = {}
        self._steps: dict[Path, WalkStep] = {}
        self._enabled: dict[State, tuple[int, ...]] = {}
        self._reasons: dict[int, dict[str, Expr]] = {}

    def state_after(self, path: Path) -> State:
        """The state that a walk leads to. Raises UsageProblem where one of its steps cannot be taken."""
        known = len(path)
        while known and path[:known] not in self._states:
            known -= 1
        state = self._states[path[:known]] if known else self.system.initial
        for at in range(known, len(path)):
            self._check(path[at], state, at)
            state = self.interpreter.successor(state, path[at])
            if len(self._states) > MOST_KEPT:
                self._states.clear()
                self._steps.clear()
                self._enabled.clear()
            self._states[path[: at + 1]] = state
        return state

    def _check(self, number: int, state: State, at: int) -> None:
        if not 0 <= number < len(self.system.transitions):
            raise UsageProblem(f"step {at + 1}: there is no step of number {number}")
        if number in self.enabled(state):
            return
        why = "; ".join(condition.words for condition in self._false(number, state)[:3])
        raise UsageProblem(
            f"step {at + 1}: {call_of(self.system.transitions[number])} cannot be taken there: {why}"
        )

    def enabled(self, state: State) -> tuple[int, ...]:
        """The transitions that can happen in a state."""
        if state not in self._enabled:
            self._enabled[state] = tuple(self.interpreter.enabled(state))
        return self._enabled[state]

    def step(self, path: Path) -> ShownStep:
        """The last step of a walk, told as that of a counterexample is."""
        before, after = self.state_after(path[:-1]), self.state_after(path)
        transition = self.system.transitions[path[-1]]
        if path[-1] not in self._reasons:
            self._reasons[path[-1]] = self.system.explainer.reasons(transition)
        said = self._reasons[path[-1]]
        reasons = [text for text, when in said.items() if self.interpreter.holds(when, before)]
        done = step_between(self.system, path[-1], before, after)
        return step_of(
            self.system, transition, len(path), done.changes, self.system.describe(before), reasons
        )

    def shown(self, walk: Walk) -> WalkShown:
        """Where a walk stands. Raises UsageProblem if it is none of this system."""
        self.state_after(walk.path)
        state = self.state_after(walk.taken)
        memory = memory_of(self.system, state)
        now = states.state_of(memory)
        before = self.knowledge(walk.path[: walk.at - 1]) if walk.at else None
        enabled = self.enabled(state)
        return WalkShown(
            scenario=self.name,
            release=self.release,
            title=self.title,
            opening=self.opening(),
            notes=self.notes,
            walk=WalkTaken(walk.path, walk.at, walk.branches),
            steps=tuple(self._told(walk.path[:n]) for n in range(1, len(walk.path) + 1)),
            choices=tuple(self._told((*walk.taken, n)) for n in self._by_actor(enabled)),
            barred=len(self.system.transitions) - len(enabled),
            violated=self.violated(state),
            subjects=self.subjects(),
            views=tuple(_views(memory, before, now)),
            events=tuple(_events(memory, now)),
            scenes=self.scenes(now),
            branches=tuple(self._branch(path) for path in walk.branches),
            line=self.line(walk),
        )

    def opening(self) -> tuple[str, ...]:
        """What is said of the system before all."""
        return ()

    def subjects(self) -> tuple[str, ...]:
        """Whom components know something about, in this order."""
        universe = self.system.universe
        return tuple(str(one.name) for kind in universe.kinds() for one in universe[kind])

    def scenes(self, now: states.State) -> tuple[Scene, ...]:
        """Drawings of a state."""
        return ()

    def _by_actor(self, numbers: tuple[int, ...]) -> list[int]:
        actors = list(dict.fromkeys(self.system.transitions[n].actor for n in numbers))
        return sorted(numbers, key=lambda n: actors.index(self.system.transitions[n].actor))

    def _told(self, path: Path) -> WalkStep:
        if path not in self._steps:
            step, call = self.step(path), call_of(self.system.transitions[path[-1]])
            notes = notes_of(self._memory, self.knowledge(path[:-1]), self.knowledge(path))
            self._steps[path] = WalkStep(path[-1], step.actor, call, step.sentence, notes)
        return self._steps[path]

    def knowledge(self, path: Path) -> states.State:
        """What components know after so many steps."""
        return states.state_of(memory_of(self.system, self.state_after(path)))

    def _branch(self, path: Path) -> str:
        return f"{len(path)} steps, the last: {self._told(path).sentence}"

    def violated(self, state: State) -> tuple[ViolatedHere, ...]:
        """The safety properties that a state violates; those that the scenario is about come first."""
        found = []
        for name, sentence in self.safety.items():
            if not self.interpreter.holds(self.system.invariants[name], state):
                said = self.system.explainer.said_of(name, "wrong").items()
                wrong = tuple(f"{text}." for text, when in said if self.interpreter.holds(when, state))
                found.append(ViolatedHere(name, sentence, name in self.asked, wrong))
        return tuple(sorted(found, key=lambda one: not one.asked))

    def barred(self, walk: Walk, words: str = "") -> tuple[Barred, ...]:
        """The steps that cannot come next, of those that have these words in their name or actor, and why not."""
        state = self.state_after(walk.taken)
        enabled = set(self.enabled(state))
        found = []
        for number, t in enumerate(self.system.transitions):
            name = f"{t.actor} {call_of(t)}".lower()
            if number not in enabled and all(word in name for word in words.lower().split()):
                found.append(Barred(number, t.actor, call_of(t), self._false(number, state)))
        return tuple(found)

    def _false(self, number: int, state: State) -> tuple[FalseCondition, ...]:
        t = self.system.transitions[number]
        waits, parts = False, []
        for part in conjuncts(t.guard):
            if any(map(is_due, variables_of([part]))):
                waits = not self.interpreter.holds(part, state)
            else:
                parts.append((part, ""))
        parts += [(part, name) for name, e in t.constraints for part in conjuncts(e)]
        minutes = FalseCondition("minutes in which nothing shorter is under way")
        return (minutes,) * waits + tuple(
            FalseCondition(
                in_words(self.system, part),
                met_by(self.system, deciding(self.interpreter, part, state), state),
                constraint,
            )
            for part, constraint in parts
            if not self.interpreter.holds(part, state)
        )

    def line(self, walk: Walk) -> str:
        """The walk up to where it stands, in one line: `along` reads it."""
        return "; ".join(call_of(self.system.transitions[n]) for n in walk.taken)

    def along(self, walk: Walk, line: str) -> Walk:
        """The walk that a line tells; the one before stays as a branch. Raises UsageProblem."""
        path: Path = ()
        for at, call in enumerate(filter(None, map(str.strip, line.split(";"))), 1):
            if call not in self.calls:
                raise UsageProblem(
                    f"step {at}: `{call[:200]}` is no step of {self.system.name}: write it as `line` does"
                )
            path = (*path, self.calls[call])
            self.state_after(path)
        return walk.along(path)


class ScenarioExplorer(Explorer):
    """Walks in a scenario."""

    def __init__(self, run: Run, notes: tuple[str, ...] = ()) -> None:
        self.run = run
        scenario = run.scenario
        self.cluster = cluster_of(scenario.spec)
        super().__init__(
            system_of(run),
            (scenario.name, run.composition.label, scenario.title),
            {cls.id: cls.sentence() for cls in watched(run)},
            {*scenario.properties, *scenario.also},
            (*run.composition.notes, *assumed_in(scenario.spec.scope), *notes),
        )

    def opening(self) -> tuple[str, ...]:
        """The cluster in words."""
        return opening(self.cluster, self.knowledge(()))

    def subjects(self) -> tuple[str, ...]:
        """Its pods and nodes."""
        return (*(p.name for p in self.cluster.pods), *(f"node {n.name}" for n in self.cluster.nodes))

    def scenes(self, now: states.State) -> tuple[Scene, ...]:
        """The cluster as the API server has it, and as the scheduler believes."""
        return scenes(self.cluster, now)


def _views(memory: Memory, before: states.State | None, now: states.State) -> Iterator[ViewShown]:
    changed = states.changed_facts(before, now) if before is not None else set()
    disputed = {(d.subject, fact) for d in states.differences(memory, now) for fact in d.facts}
    for view, facts in now.views.items():
        said = {
            subject: tuple(facts_told(view, subject, about, changed, disputed, memory))
            for subject, about in (facts or {}).items()
        }
        yield ViewShown(view, facts is not None, {subject: told for subject, told in said.items() if told})


def _events(memory: Memory, now: states.State) -> Iterator[EventShown]:
    for channel, events in now.channels.items():
        for event in events:
            if event.waits_for:
                yield EventShown(channel, event.subject, event_words(event.facts, memory), event.waits_for)
