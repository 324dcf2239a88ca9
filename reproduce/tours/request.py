"""What `podrace check --on-code` is asked for: a scenario's tour on a version or on a tree of sources, to its document."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...base.problems import UsageProblem
from ...checker.core.exploration import Budget
from ...checker.explicit import explore
from ...checker.explicit.state_graph import state_graph
from ...checker.reduction.scales_of_time import endless, with_scales
from ...model.environment.cluster.scope import ANY_TIME
from ...model.history import Composition
from ...model.language import TransitionSystem
from ...properties import instrument
from ...reports.tours import Departure, Tour
from ...scenarios import Scenario
from ..lockstep.lockstep import HELD, Difference, Play
from ..lockstep.request import plays
from ..lockstep.shrinking import labels_of, shrunk
from ..objects import objects_of
from ..random_runs.random_runs import Model
from ..request import Code, code_of
from ..running import Built, Say
from .kept import KeptTour
from .tour import Asked, Fate, Toured, tour

MOST_STATES = 250_000
"""A graph of more is cut there, unless --max-states says otherwise."""

SHRINKING = 60.0
"""Seconds in which one difference is shrunk."""

SAVING = 20.0
"""Seconds after which what was taken is kept again."""


def parse_code(text: str, release: str | None) -> Code:
    """What --on-code names. Raises UsageProblem."""
    try:
        return code_of(text, release)
    except UsageProblem as problem:
        raise UsageProblem(str(problem).replace("--kubernetes:", "--on-code:")) from None


def tour_of(
    scenario: Scenario,
    composition: Composition,
    code: Code,
    built: Built,
    budget: Budget,
    say: Say,
    cache: Path | None = None,
) -> Tour:
    """The tour of a scenario. Raises UsageProblem if the scenario has no real cluster.

    What is taken is kept in the folder `cache`, and not taken again.
    """
    _refuse(scenario)
    began = time.monotonic()
    say(f"{scenario.name}: exploring all of it")
    budget = replace(budget, max_states=min(budget.max_states or MOST_STATES, 1 << 24))
    system = in_time(instrument(scenario.spec, composition.classes, []), budget)
    model = Model(scenario, composition, system)
    graph = state_graph(system, budget)
    keeper, saved = KeptTour(cache, built, model, graph), time.monotonic()
    known = keeper.get()

    def tell(toured: Toured) -> None:
        nonlocal saved
        if time.monotonic() - saved >= SAVING:
            keeper.put(toured.fates == Fate.TAKEN)
            saved = time.monotonic()
        taken, differing = toured.count(Fate.TAKEN), toured.causes.total()
        say(
            f"{scenario.name}: {taken:,} of {graph.edges:,} transitions taken, {toured.runs:,} runs, {differing:,} differ"
        )

    seconds = None if budget.timeout is None else max(1.0, budget.timeout - (time.monotonic() - began))
    forced = HELD if built.holds else frozenset()
    play = plays(built)
    asked = Asked(max(1, budget.jobs), seconds, forced=forced, known=known)
    toured = tour(model, graph, play, asked, tell)
    keeper.put(toured.fates == Fate.TAKEN)
    departures = tuple(_departure(toured, name, play, say) for name, _ in toured.causes.most_common())
    return _document(toured, code, built, departures, int(known.sum()))


def is_timed(scenario: Scenario) -> bool:
    """Whether time passes by scales in its runs."""
    return scenario.spec.scope.time != ANY_TIME


def in_time(system: TransitionSystem, budget: Budget) -> TransitionSystem:
    """The system with its scales of time, if it asks for them; without, where work can go on endlessly, or that is not known, as a verdict is then one without them, too."""
    timed = with_scales(system)
    asked = endless(timed)
    waits = None if asked is None else explore(asked, budget)
    return timed if waits is None or (waits.complete and not waits.lassos) else replace(system, scales=False)


def _refuse(scenario: Scenario) -> None:
    if scenario.open:
        names = ", ".join(parameter.name for parameter in scenario.open)
        raise UsageProblem(f"--on-code: {scenario.name} leaves {names} open: give it one value")
    if any(pod.extender_selector for pod in scenario.spec.pods):
        raise UsageProblem(
            f"--on-code: {scenario.name}: the scheduler that is run has no such extender: remove `extenderSelector`"
        )
    if missing := objects_of(scenario.spec).missing:
        raise UsageProblem(f"--on-code: {scenario.name}: {missing[0]}")


def _departure(toured: Toured, name: str, play: Play, say: Say) -> Departure:
    example = toured.examples[name]
    say(f"shrinking {name}")
    small = shrunk(example, play, seconds=SHRINKING)
    found: Difference = small.difference
    steps: Sequence[str] = labels_of(found.run)[: found.at]
    transitions = Counter(toured.differing.values())[name]
    return Departure(
        name, toured.causes[name], transitions, found.words, tuple(steps), not small.stopped, example.decided
    )


def _document(
    toured: Toured, code: Code, built: Built, departures: tuple[Departure, ...], known: int
) -> Tour:
    model, graph = toured.model, toured.graph
    decided = Counter(toured.examples[cause].decided for cause in toured.differing.values())
    return Tour(
        scenario=model.scenario.name,
        scheduler=code.version.tag,
        release=model.composition.label,
        states=graph.states,
        transitions=graph.edges,
        taken=toured.count(Fate.TAKEN),
        within_lock=toured.count(Fate.WITHIN_LOCK),
        not_forced=dict(Counter(toured.refused.values()).most_common()),
        behind=toured.count(Fate.BEHIND_LOCK, Fate.BEHIND_REFUSED),
        differing=decided.pop("", 0),
        behind_differing=toured.count(Fate.BEHIND_DIFFERENCE),
        left=toured.count(Fate.LEFT),
        runs=toured.runs,
        steps=toured.steps,
        seconds=round(toured.seconds, 1),
        bound=graph.stopped or "",
        tree="" if code.version.tree is None else str(code.version.tree),
        instead=dict(built.instead),
        own=built.own,
        decided=dict(decided.most_common()),
        departures=departures,
        known=known,
    )
