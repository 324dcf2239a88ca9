"""Two schedulers compared: the same properties in the same scenarios, searched on both."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import msgspec

from ...checker.core.exploration import Budget
from ...checker.core.interpreter import Interpreter
from ...checker.core.trace import Trace
from ...checker.divergence import Decision, divergence
from ...checker.reduction.questions import explored_slice
from ...checker.reduction.slicing import step_name
from ...checker.trace.cross_system_replay import replay_across
from ...checker.trace.execution import ReplayError, replay
from ...checker.trace.fingerprint import fingerprint
from ...model.history import Composition
from ...model.history.versions import exact
from ...model.language import TransitionSystem
from ...properties import instrument
from ...properties.base.truth import Outcomes
from ...reports.document import Finding
from ...reports.verify.comparison import (
    Comparison,
    Decided,
    Ignored,
    Lost,
    Net,
    Outcome,
    Pair,
    Parted,
    outcome_of,
)
from ...scenarios import Scenario
from ..altered_questions import altered
from ..chain import verdict_in
from ..findings import assumed_in, fixes_of, ignored_words, undecided, witness_words
from ..request.method import NOBODY, Method, Watcher
from ..request.plan import Run, with_gates_of
from ..scheduler_version import version_of
from ..shown.steps import label_of, steps_of
from ..systems import refuse_ranges, system_of
from .listener import DEAF, Listener
from .reaching import reached_in, unharmed
from .relevance import by_relevance, touched_by
from .safety_nets import NetSearch, nets_beside

DECISIONS = 6
"""How many differing decisions are told of the state in which two schedulers part."""


@dataclass
class Comparer:
    """Compares two compositions. `runs` are those on the first; the second gets the same.

    What a scenario ignores is not searched, and a scenario of which nothing is left is not compared. A scenario that sets feature gates sets
    them on both sides, unless `gates` has them: those that were asked for. With `nets`, the safety nets are compared, too.
    `by_relevance`: the scenarios that the difference concerns most come first, else they keep the order of the runs.
    """

    before: Composition
    after: Composition
    runs: Sequence[Run]
    budget: Budget
    method: Method
    watcher: Watcher = NOBODY
    left_out: tuple[str, ...] = ()
    gates: Mapping[str, bool] = field(default_factory=dict)
    nets: bool = False
    listener: Listener[Pair] = DEAF
    by_relevance: bool = False
    _count: str = ""
    _silent: list[str] = field(default_factory=list)
    _systems: dict[str, tuple[TransitionSystem, TransitionSystem]] = field(default_factory=dict)

    def scenarios(self) -> list[Scenario]:
        """The scenarios, in the order in which they are compared."""
        found = {run.scenario.file: run.scenario for run in self.runs if not run.ignored}.values()
        return by_relevance(found, touched_by(self.before, self.after)) if self.by_relevance else list(found)

    def is_no_comparison(self) -> bool:
        """Whether the two systems are the same in every scenario."""
        return all(self._is_alike(scenario) for scenario in self.scenarios())

    def compare(self) -> Comparison:
        """Search everything, one scenario after the other. Ctrl-C and SIGTERM end it, and what was decided is kept."""
        pairs, lost, undecided = list[Pair](), list[Lost](), list[Lost]()
        parted, alike, nets = list[Parted](), list[str](), list[Net]()
        scenarios = self.scenarios()
        for scenario in scenarios:
            refuse_ranges(scenario)
        asked = [r for s in scenarios for r in self.runs if r.scenario is s and not r.ignored]
        stopped = False
        try:
            self.listener.begin(
                self.before.label, self.after.label, [(run.property, run.scenario.name) for run in asked]
            )
            for scenario in scenarios:
                first, second = self._both(scenario)
                runs = [run for run in self.runs if run.scenario is scenario]
                begun = len(pairs)
                for run in (run for run in runs if not run.ignored):
                    self._count = f"[{len(pairs) + 1}/{len(asked)}] "
                    pairs.append(self._pair(run))
                    self.listener.decided(pairs[-1])
                if self._is_alike(scenario):
                    alike.append(scenario.name)
                    continue
                gone, open_ = self._lost(runs, second)
                lost += [Lost(scenario.name, witness) for witness in gone]
                undecided += [Lost(scenario.name, witness) for witness in open_]
                nets += self._nets(runs, pairs[begun:], lost)
                parted += self._parted(scenario, first, second)
        except KeyboardInterrupt:
            stopped = True
        left = asked[len(pairs) :]
        pairs += map(self._undecided, left)
        gone_steps, new_steps = _steps(pairs, self._silent)
        return Comparison(
            before=self.before.label,
            after=self.after.label,
            pairs=tuple(pairs),
            lost=tuple(dict.fromkeys(lost)),
            undecided=tuple(undecided),
            steps_lost=gone_steps,
            steps_gained=new_steps,
            difference=min(parted, key=lambda p: len(p.steps), default=None),
            alike=tuple(alike),
            left_out=self.left_out,
            ignored=ignored_of([*self.runs, *self._other_nets()]),
            nets=tuple(nets),
            left=len(left) if stopped else None,
            notes=tuple(dict.fromkeys((*self.before.notes, *self.after.notes, *self._assumed()))),
        )

    def _assumed(self) -> Iterator[str]:
        for words in dict.fromkeys(w for run in self.runs for w in assumed_in(run.scenario.spec.scope)):
            yield f"assumed: {words}"

    def _start(self, what: str) -> None:
        self.watcher.start(f"{self._count}{what}")

    def _both(self, scenario: Scenario) -> tuple[TransitionSystem, TransitionSystem]:
        """The two systems, without any property."""
        if scenario.file not in self._systems:
            self._start(f"{scenario.name} on {self.before.label} and on {self.after.label}")
            sides = (
                Run(scenario, with_gates_of(scenario, side, self.gates), Outcomes.id, own=Outcomes)
                for side in (self.before, self.after)
            )
            first, second = map(system_of, sides)
            self._systems[scenario.file] = first, second
        return self._systems[scenario.file]

    def _is_alike(self, scenario: Scenario) -> bool:
        first, second = map(fingerprint, self._both(scenario))
        return first == second

    def _undecided(self, run: Run) -> Pair:
        return Pair("inconclusive", undecided(run), undecided(replace(run, composition=self.after)))

    def _pair(self, run: Run) -> Pair:
        run = replace(run, composition=with_gates_of(run.scenario, run.composition, self.gates))
        other = replace(run, composition=with_gates_of(run.scenario, self.after, self.gates))
        name = f"{run.scenario.name} {run.property}"
        self._start(f"{name} on {self.before.label}")
        first, second = system_of(run), system_of(other)
        before = verdict_in(first, run, self.budget, self.method, self.watcher.watch)
        same = fingerprint(explored_slice(first, run.property)) == fingerprint(
            explored_slice(second, run.property)
        )
        if same:
            after = _relabelled(before, other.composition)
        else:
            self._start(f"{name} on {self.after.label}")
            after = verdict_in(second, other, self.budget, self.method, self.watcher.watch)
        outcome, remark = outcome_of(before.verdict, after.verdict), ""
        if after.verdict == "VIOLATED" and not same:
            outcome, remark = _in_words(outcome, run.property, first, second, before, after)
        question = altered(other)
        after = msgspec.structs.replace(after, notes=(*after.notes, *question.notes))
        if after.verdict == "HOLDS" and question.alters:
            outcome, remark = "inconclusive", f"the change alters {question.alters}"
        lost = [] if same else self._witnesses_lost(first, before, after)
        if after.verdict == "HOLDS" and not same:
            names = set(map(step_name, second.transitions))
            never = {step for step in before.steps_fired if step not in names} | {*after.steps_never_fired}
            self._silent += [step for step in before.steps_fired if step in never]
        return Pair(outcome, before, after, same, remark, tuple(lost))

    def _nets(self, runs: Sequence[Run], pairs: Sequence[Pair], lost: list[Lost]) -> Iterator[Net]:
        """What comes of the safety nets of one scenario. What tested one before, and cannot any more, is added to `lost`."""
        if not self.nets:
            return
        searched = max((f.states for p in pairs for f in (p.before, p.after)), default=0)
        search = NetSearch(self.budget, self.method, self.watcher, searched, lost)
        for net in nets_beside(runs):
            sides = (with_gates_of(net.scenario, side, self.gates) for side in (self.before, self.after))
            if not net.ignored:
                yield search.compare(*(replace(net, composition=side) for side in sides))

    def _other_nets(self) -> list[Run]:
        """The safety nets of all scenarios."""
        if not self.nets:
            return []
        of_scenario = ([run for run in self.runs if run.scenario is s] for s in self.scenarios())
        return [net for runs in of_scenario for net in nets_beside(runs)]

    def _witnesses_lost(self, first: TransitionSystem, before: Finding, after: Finding) -> list[str]:
        """Witnesses of the property that a complete search of the second did not reach, and the first can reach."""
        if after.verdict != "HOLDS":
            return []
        missed = [witness for witness in after.witnesses_missed if witness not in before.witnesses_reached]
        lost = [witness for witness in after.witnesses_missed if witness in before.witnesses_reached]
        if before.verdict == "VIOLATED":  # what only the violation leads to is no loss
            missed, lost, first = [*missed, *lost], [], unharmed(first)
        if missed and before.verdict != "HOLDS":
            named = {witness_words(name): name for name in first.witnesses}
            reached, _ = reached_in(
                first, [named[witness] for witness in missed if witness in named], self.budget
            )
            lost += [witness_words(name) for name in reached]
        return lost

    def _lost(self, runs: Sequence[Run], second: TransitionSystem) -> tuple[list[str], list[str]]:
        """Outcomes that the second scheduler cannot bring about any more, and those that are undecided.

        Of the first, only what it brings about while all properties hold, the ignored ones as well: a fix takes away what only
        a violation leads to.
        """
        scenario = runs[0].scenario
        self._start(f"{scenario.name}: outcomes on {self.before.label}")
        asked = dict.fromkeys(run.prop for run in runs)
        old = with_gates_of(scenario, self.before, self.gates)
        watched = instrument(scenario.spec, old.classes, [Outcomes, *asked])
        witnesses = [name for name in watched.witnesses if name.startswith(f"{Outcomes.id}: ")]
        reached, _ = reached_in(unharmed(watched), witnesses, self.budget)
        self._start(f"{scenario.name}: outcomes on {self.after.label}")
        kept, open_ = reached_in(second, reached, self.budget)
        lost = [witness_words(g) for g in reached if g not in kept and g not in open_]
        return lost, [witness_words(g) for g in open_]

    def _parted(
        self, scenario: Scenario, first: TransitionSystem, second: TransitionSystem
    ) -> Iterator[Parted]:
        self._start(f"{scenario.name}: where {self.before.label} and {self.after.label} part")
        found = divergence(first, second, self.budget)
        if found.difference is not None:
            yield Parted(
                scenario.name,
                steps_of(first, found.difference.trace),
                tuple(
                    _decided(d, found.difference.trace, first, second)
                    for d in found.difference.decisions[:DECISIONS]
                ),
                found.shortest,
            )


def _decided(decision: Decision, run: Trace, first: TransitionSystem, second: TransitionSystem) -> Decided:
    """A decision, with the step as each system takes it after the run, and what it can do next that the other cannot."""
    one, other = (_taken(system, run, decision.label) for system in (first, second))
    follow, differently = _next(first, one), _next(second, other)
    return Decided(
        decision.label,
        decision.kind,
        {name: value for name, (value, _) in decision.values.items()},
        {name: value for name, (_, value) in decision.values.items()},
        steps_of(first, one)[-1] if one else None,
        steps_of(second, other)[-1] if other else None,
        _told(first, one, follow - differently),
        _told(second, other, differently - follow),
    )


def _taken(system: TransitionSystem, run: Trace, label: str) -> Trace | None:
    """A run of another system and then the step with this label, in this system; None if that is not possible."""
    numbers = {t.label: n for n, t in enumerate(system.transitions)}
    labels = [*(step.label for step in run.steps), label]
    try:
        return replay(system, tuple(numbers[one] for one in labels)) if label in numbers else None
    except ReplayError:
        return None


def _next(system: TransitionSystem, run: Trace | None) -> set[str]:
    """The labels of the steps that are possible after a run."""
    enabled = Interpreter(system).enabled(run.states[-1]) if run else ()
    return {system.transitions[n].label for n in enabled}


def _told(system: TransitionSystem, run: Trace | None, labels: Set[str]) -> tuple[str, ...]:
    """These steps after a run, in words, in the order of the system."""
    if run is None:
        return ()
    longer = [replay(system, (*run.path, n)) for n, t in enumerate(system.transitions) if t.label in labels]
    return tuple(steps_of(system, one)[-1].sentence for one in longer)


def ignored_of(runs: Sequence[Run]) -> tuple[Ignored, ...]:
    """What of these runs is not looked at."""
    return tuple(Ignored(run.scenario.name, run.property, ignored_words(run)) for run in runs if run.ignored)


def _relabelled(finding: Finding, composition: Composition) -> Finding:
    return msgspec.structs.replace(
        finding,
        release=exact(composition.release),
        fixes=fixes_of(composition),
        notes=composition.notes,
        version=version_of(composition),
    )


def _in_words(
    outcome: Outcome, prop: str, first: TransitionSystem, second: TransitionSystem, before: Finding, after: Finding
) -> tuple[Outcome, str]:  # fmt: skip
    """What becomes of the counterexample of one scheduler in the other."""
    if prop not in first.invariants:
        return outcome, ""
    if before.verdict == "VIOLATED":
        stuck = _tried(second, prop, before)
        if stuck is None:
            return outcome, "the earlier interleaving still violates it"
        return outcome, f"by another interleaving: the earlier one {stuck}"
    stuck = _tried(first, prop, after)
    if stuck is None and outcome == "inconclusive":
        return "still violated", "the same interleaving violates it before"
    return outcome, f"before, the same interleaving {stuck}" if stuck else ""


def _tried(system: TransitionSystem, prop: str, finding: Finding) -> str | None:
    """Why the counterexample's schedule does not violate the property in this system; None if it does."""
    steps = finding.trace or ()
    tried = replay_across(system, [(label_of(step), step.actor) for step in steps])
    judge = Interpreter(system)
    if any(not judge.holds(system.invariants[prop], state) for state in replay(system, tried.path).states):
        return None
    if tried.stopped_at is None:
        return "can be taken to its end and does no harm"
    return (
        f"stops before its step {tried.stopped_at + 1} of {len(steps)}, `{label_of(steps[tried.stopped_at])}`"
    )


def _steps(pairs: Sequence[Pair], silent: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Steps that ran before and, by searches to the end, never run now; and steps that only run now."""
    fired = {step for p in pairs for step in p.after.steps_fired}
    known = {step for p in pairs for step in (*p.before.steps_fired, *p.before.steps_never_fired)}
    gone = [step for step in silent if step not in fired]
    new = [step for p in pairs for step in p.after.steps_fired if step not in known]
    return tuple(dict.fromkeys(gone)), tuple(dict.fromkeys(new))
