"""Random runs of the base's model, executed by the changed code: which scenarios execute the change, and where the code leaves the model.

Only where it does is the unchanged code run, too: what that does as well is no departure of the change.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from random import Random

from ...base.structs import Data
from ...model.history.versions import version_of
from ...model.language import State
from ...model.scheduler.queue.sub_queues import SubQueue
from ...reports.tours import Departure
from ...reports.verify.code_change import Probed
from ...scenarios import Scenario, parse_scenario
from ..case import Case
from ..lockstep.lockstep import Difference, case_for, difference_of
from ..lockstep.shrinking import labels_of
from ..outcome import Outcome
from ..random_runs.claim_clusters import claim_cluster
from ..random_runs.device_clusters import KINDS, device_cluster
from ..random_runs.extended_clusters import extended_cluster
from ..random_runs.extender_clusters import extender_cluster
from ..random_runs.forcing import Forcing
from ..random_runs.group_clusters import clusters_for
from ..random_runs.quick_steps import QuickSteps
from ..random_runs.random_runs import Model, RandomRun, Walker
from ..random_runs.varied_clusters import varied_cluster
from ..random_runs.volume_clusters import volume_cluster
from ..running import Built, Say, run_cases
from ..timing.timing import Timetable
from .beyond import MOST_OF_ONE, Place
from .departures import place_at, playable
from .lines import NOTHING, ChangedLine, Counted
from .replays import replayed_at_once, seen_of
from .small_clusters import FILE

RUNS, LONGEST = 24, 60
"""How many runs are made in a scenario, and of how many steps at most."""

MORE_RUNS = 4
"""How many times as many in one of the smallest clusters, which execute it soon, and in a scenario that the user names: few of them refuse a pod while another is parked."""

STATES = 60_000
"""In so many states of one of these a run to what is changed is searched for."""

_WHERE = "queue.sub_queue["
_PARKED = list(SubQueue).index(SubQueue.UNSCHEDULABLE)
"""How a state has that a pod is parked."""

AHEAD = 2
"""Scenarios whose runs are made while those of others are executed."""


CLUSTERS = {
    varied_cluster: 40,
    claim_cluster: 8,
    device_cluster: 2 * len(KINDS),
    volume_cluster: 8,
    extended_cluster: 4,
    extender_cluster: 4,
}
"""How many random clusters of each kind are run beside the scenarios."""
OF_GROUPS = 8
"""The same for clusters with groups of pods, which differ from release to release."""


def random_clusters(release: str) -> Iterator[Scenario]:
    """Clusters in which many things can happen that the scenarios, which are small, leave out."""
    of_groups, _ = clusters_for(int(version_of(release).minor.partition(".")[2]))
    for cluster, count in (*CLUSTERS.items(), (of_groups, OF_GROUPS)):
        for number in range(count):
            text = cluster(number)
            yield parse_scenario(text, "random.yaml")


USED_BY = {
    "scheduler.volumebinding.": "volume_claims",
    "scheduler.dynamicresources.": "claims",
    "scheduler.podgroups.": "groups",
    "scheduler.cycles.extenders.": "extenders",
}
"""What a cluster has that uses a part of the model."""


def using(scenarios: Sequence[Scenario], elements: Sequence[str]) -> list[Scenario]:
    """Those first that have what uses these elements, of all parts of the change."""
    needed = {field for e in elements for part, field in USED_BY.items() if e.startswith(part)}
    return sorted(scenarios, key=lambda one: not all(getattr(one.spec, field) for field in needed))


def mixed(some: Sequence[Scenario], others: Sequence[Scenario]) -> list[Scenario]:
    """Both, each spread evenly over the other: when time is up there was something of both."""
    places = [((n + 0.5) / len(part), one) for part in (some, others) for n, one in enumerate(part)]
    return [one for _, one in sorted(places, key=lambda pair: pair[0])]


class Probe(Data, slots=False):
    """The runs of a scenario: which changed lines each side has executed (`counted`), what was `seen` of the changed code, and where it has left the model."""

    scenario: Scenario
    cases: Sequence[Case]
    counted: tuple[Counted, Counted]
    seen: tuple[tuple[object, ...], tuple[object, ...]]
    steps: int
    departures: tuple[Difference, ...] = ()

    @property
    def reached(self) -> bool:
        """Whether a changed line was executed."""
        return any(side.executed for side in self.counted)

    @property
    def places(self) -> list[Place]:
        """Where the code has left the model."""
        return [place_at(one, f"{self.scenario.name} run {n}") for n, one in enumerate(self.departures)]

    @property
    def told(self) -> Probed:
        """The document's part."""
        runs = Counter(one.cause for one in self.departures)
        first = {one.cause: one for one in reversed(self.departures)}
        departures = [
            Departure(cause, runs[cause], 0, one.words, tuple(labels_of(one.run)[: one.at]), False)
            for cause, one in first.items()
        ]
        executed = len(self.counted[0].executed | self.counted[1].executed)
        return Probed(self.scenario.name, len(self.cases), self.steps, executed, tuple(departures))


def probes(
    scenarios: deque[Scenario],
    release: str,
    built: tuple[Built, Built],
    lines: Sequence[ChangedLine],
    jobs: int,
    goes_on: Callable[[], bool],
    say: Say,
    own_base: bool = False,
    elements: Sequence[str] = (),
    named: bool = False,
) -> Iterator[Probe]:
    """The runs of each scenario that can be played, while it `goes_on`; those that are left stay in `scenarios`. `elements` stand for what is changed. With `own_base` the unchanged code is no version that the model has. The scenarios that a user has `named` get as many runs as the smallest clusters."""
    waiting: deque[Future[Probe]] = deque()
    with ThreadPoolExecutor(jobs) as pool:
        while scenarios and goes_on():
            scenario = scenarios.popleft()
            say(f"random runs in {scenario.name}, {len(scenarios)} more scenarios to come")
            runs = _runs(scenario, release, elements, thorough=named or scenario.file == FILE)
            if runs:
                waiting.append(pool.submit(_probed, scenario, runs, built, lines, own_base))
            while len(waiting) > jobs * AHEAD or (waiting and waiting[0].done()):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _runs(scenario: Scenario, release: str, elements: Sequence[str], *, thorough: bool) -> list[RandomRun]:
    model = playable(scenario, release)
    if model is None:
        return []
    walker = Walker(model, Counter())
    random = Random(scenario.name)
    count = RUNS * (MORE_RUNS if thorough else 1)
    made = [walker.walk(random, random.randint(LONGEST // 3, LONGEST)) for _ in range(count)]
    reaching = runs_while_one_is_parked(model, elements) if thorough else ()
    return [run for run in (*reaching, *made) if run.path]


def runs_while_one_is_parked(model: Model, elements: Sequence[str]) -> Iterator[RandomRun]:
    """A shortest run to each step that has the name of one of these elements of the model, while a pod is parked that it is not about: few random runs come there."""
    system, steps = model.system, frozenset(element.rpartition(".")[2] for element in elements)
    places = {v.name: n for n, v in enumerate(system.variables) if v.name.startswith(_WHERE)}
    others = {
        number: [at for name, at in places.items() if name not in {f"{_WHERE}{pod}]" for _, pod in one.args}]
        for number, one in enumerate(system.transitions)
        if one.step in steps
    }
    quick = QuickSteps(system)
    before: dict[State, tuple[State, int] | None] = {system.initial: None}
    waiting = deque([system.initial])
    while waiting and others and len(before) < STATES:
        state = waiting.popleft()
        for number in quick.enabled(state):
            following = quick.successor(state, number)
            if following not in before:
                before[following] = state, number
                waiting.append(following)
            if any(state[at] == _PARKED for at in others.get(number, ())):
                run = _forced(model, quick, (*_path_to(state, before), number))
                if run is not None:
                    del others[number]
                    yield run


def _path_to(state: State, before: Mapping[State, tuple[State, int] | None]) -> list[int]:
    path = []
    while (last := before[state]) is not None:
        state, number = last
        path.append(number)
    return path[::-1]


def _forced(model: Model, quick: QuickSteps, path: Sequence[int]) -> RandomRun | None:
    """A run of these steps; None if it cannot be forced, or no durations allow for it."""
    table, forcing = Timetable(model.system, model.composition), Forcing(model.system)
    state = model.system.initial
    for number in path:
        step, following = model.system.transitions[number], quick.successor(state, number)
        if not (forcing.allows(step, state) and table.take(step, state, following)):
            return None
        forcing.go(step, state, following)
        state = following
    return RandomRun(model, tuple(path), table.timing)


def _probed(
    scenario: Scenario,
    runs: Sequence[RandomRun],
    built: tuple[Built, Built],
    lines: Sequence[ChangedLine],
    own_base: bool,
) -> Probe:
    cases = [case_for(run, f"{scenario.name} {number}") for number, run in enumerate(runs)]
    gone, new = ([line for line in lines if line.removed is removed] for removed in (True, False))
    after, executed = replayed_at_once(built[1], cases, new)
    after |= _without_the_crashed(built[1], cases, after)
    before, removed = replayed_at_once(built[0], cases, gone) if gone or own_base else ({}, NOTHING)
    parted = [
        (found, run, case)
        for run, case in zip(runs, cases, strict=True)
        if (found := _parting(run, before.get(case.id), after[case.id])) is not None
    ]
    parted.sort(key=lambda one: one[0].at)
    departures = [
        found for found, run, case in parted[:MOST_OF_ONE] if _is_of_the_change(run, case, found, built)
    ]
    seen = [tuple(seen_of(side[case.id]) for case in cases) if side else () for side in (before, after)]
    steps = sum(len(said.forced) for said in after.values())
    return Probe(scenario, cases, (removed, executed), (seen[0], seen[1]), steps, tuple(departures))


def _without_the_crashed(
    built: Built, cases: Sequence[Case], outcomes: dict[str, Outcome]
) -> dict[str, Outcome]:
    """Those that ended with a case that ended the process."""
    crashed = [case for case in cases if outcomes[case.id].verdict == "CRASHED"]
    return run_cases(built, crashed) if len(crashed) > 1 else {}


def _parting(run: RandomRun, before: Outcome | None, after: Outcome) -> Difference | None:
    """Where one of the sides leaves the model first: the changed code, or an unchanged tree of which the changed code is nearer to the model."""
    found = difference_of(run, after)
    other = None if before is None else difference_of(run, before)
    if other is not None and (found is None or other.at < found.at):
        return replace(other, words=f"the unchanged code differs: {other.words}")
    return found


def _is_of_the_change(run: RandomRun, case: Case, found: Difference, built: tuple[Built, Built]) -> bool:
    """Whether one side goes on where the other differs, and that a second time."""
    sides = [difference_of(run, run_cases(one, [case])[case.id]) for one in built]
    here = [side is not None and side.at == found.at for side in sides]
    return here[0] != here[1] and all(side is None or side.at >= found.at for side in sides)
