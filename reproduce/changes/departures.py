"""Where changed code leaves the model of its base: tours of scenarios whose replays have executed the change."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from msgspec import structs

from ...analysis.request.plan import Selection, plan
from ...base.problems import Problem
from ...checker.core.exploration import Budget
from ...checker.explicit.state_graph import StateGraph, state_graph
from ...properties import instrument
from ...reports.tours import Departure
from ...reports.verify.code_change import Toured
from ...scenarios import Scenario
from ..lockstep.lockstep import HELD, Difference, case_for
from ..lockstep.request import plays
from ..lockstep.shrinking import labels_of, shrunk
from ..objects import objects_of
from ..random_runs.random_runs import Model, RandomRun
from ..running import Built, Say
from ..timing.timing import Timing
from ..tours import tour as touring
from ..tours.tour import Asked, Fate
from .beyond import Place

MOST_STATES = 20_000
"""Of a scenario with more states no tour is made."""

MOST_TOURS = 8
SECONDS = 60.0
"""How many tours are made, and how long one takes at most."""

DEPARTURES = 20
"""So many runs that differ are enough to say that the code departs."""

SHRINKING = 20.0


def departures(
    scenarios: Sequence[Scenario],
    release: str,
    before: Built,
    after: Built,
    budget: Budget,
    say: Say,
    left: Callable[[], float] = lambda: SECONDS,
) -> Iterator[tuple[Toured, list[Place]]]:
    """Tours of the first scenarios that are small enough, with where the code departs; what the unchanged code does as well is no departure of the change."""
    made = 0
    for scenario in scenarios:
        if made == MOST_TOURS or left() <= 0:
            return
        found = _model(scenario, release, budget)
        if found is None:
            continue
        made += 1
        say(f"tour of {scenario.name}: {found[1].edges:,} transitions on the changed code")
        yield _tour(found, before, after, budget, say, min(SECONDS, max(left(), 1.0)))


def start_of(scenario: Scenario, release: str) -> Place | None:
    """The place where nothing has happened yet; None of a scenario that cannot be played on this release."""
    model = playable(scenario, release)
    if model is None:
        return None
    return Place(scenario, case_for(RandomRun(model, (), Timing((), ())), scenario.name), ())


def place_at(difference: Difference, name: str) -> Place:
    """The place of a difference: after the step at which the code leaves the model."""
    case = case_for(difference.run, name)
    case = structs.replace(case, steps=case.steps[: difference.at])
    return Place(
        difference.run.model.scenario,
        case,
        tuple(labels_of(difference.run)[: difference.at]),
        difference.cause,
    )


def playable(scenario: Scenario, release: str) -> Model | None:
    """The model of a scenario whose runs the driver can execute on this release; None of another."""
    if (
        scenario.open
        or objects_of(scenario.spec).missing
        or any(p.extender_selector for p in scenario.spec.pods)
    ):
        return None
    try:
        composition = plan(Selection(release=release, given=[scenario]))[0].composition
    except Problem:
        return None
    return Model(scenario, composition, instrument(scenario.spec, composition.classes, []))


def _model(scenario: Scenario, release: str, budget: Budget) -> tuple[Model, StateGraph] | None:
    model = playable(scenario, release)
    if model is None:
        return None
    graph = state_graph(model.system, replace(budget, max_states=MOST_STATES, timeout=SECONDS))
    return None if graph.stopped is not None else (model, graph)


def _new(made: touring.Toured, base: touring.Toured | None) -> list[str]:
    """The causes that the unchanged code does not have, or has not where the changed code has them."""
    here = {why for edge, why in made.differing.items() if base and base.fates[edge] == Fate.TAKEN}
    return [
        name
        for name, _ in made.causes.most_common()
        if base is None or name not in base.causes or name in here
    ]


def _tour(
    found: tuple[Model, StateGraph], before: Built, after: Built, budget: Budget, say: Say, seconds: float
) -> tuple[Toured, list[Place]]:
    model, graph = found
    sides = []
    for built in (after, before):
        forced = HELD if built.holds else frozenset()
        asked = Asked(max(1, budget.jobs), seconds, departures=DEPARTURES, forced=forced)
        sides.append(touring.tour(model, graph, plays(built), asked))
        if not sides[0].causes:
            break
    made = sides[0]
    new = _new(made, sides[1] if len(sides) > 1 else None)
    told, places = [], []
    for number, name in enumerate(sorted(new, key=lambda name: made.examples[name].at)):
        example, whole = made.examples[name], True
        if number == 0:
            say(f"shrinking {name}")
            small = shrunk(example, plays(after), seconds=SHRINKING)
            example, whole = small.difference, not small.stopped
        place = place_at(example, f"{model.scenario.name} {number}")
        places.append(replace(place, cause=name))
        told.append(Departure(name, made.causes[name], 0, example.words, place.labels, whole and number == 0))
    left = graph.edges - made.count(Fate.TAKEN)
    remark = "it ended there: enough runs differ" if new else f"{left:,} were not taken" if left else ""
    return Toured(model.scenario.name, graph.edges, made.count(Fate.TAKEN), tuple(told), remark), places
