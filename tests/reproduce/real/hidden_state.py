"""What the scheduler keeps in memory in one state of the model, after different runs to it; and the table of docs/notebook/hidden-state.md."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from podrace.base.structs import Data
from podrace.checker.explicit.state_graph import StateGraph, state_graph
from podrace.reproduce.case import Case
from podrace.reproduce.lockstep.lockstep import AT_ONCE, HELD, WITHIN_LOCKS
from podrace.reproduce.outcome import Outcome
from podrace.reproduce.random_runs.random_runs import Model
from podrace.reproduce.running import Built, run_cases
from podrace.reproduce.timing.timing import Timing
from podrace.reproduce.tours.cases import Cases
from podrace.reproduce.tours.guiding import Guided
from podrace.reproduce.tours.nearest import Flags
from podrace.reproduce.tours.planning import LONGEST, Plan, Planned

PAGE = Path(__file__).parents[3] / "docs" / "notebook" / "hidden-state.md"
BEGIN, END = "<!-- hidden state: made by `make real` -->", "<!-- end of hidden state -->"
HEADER = "| Scenario | Transitions | With several ways | Taken by two runs | States | Compared | Pairs of runs | Equal | Differ | Fields |"

TRIES = 6
"""Random ways to a transition."""
NEARER = 0.8
"""How often such a way goes straight back to the first state."""

State = Mapping[str, Any]
"""The values of the model's variables, by name."""


def _no_snapshot(state: State) -> bool:
    return state.get("scheduler.phase") in ("IDLE", "POPPED")


def _backing_off(state: State) -> bool:
    return any(v == "BACKOFF" for name, v in state.items() if name.startswith("queue.sub_queue["))


def _nodeless(state: State) -> bool:
    return any(v is False for name, v in state.items() if name.startswith("cache.live["))


def _not_all_nominated(state: State) -> bool:
    return any(v is None for name, v in state.items() if name.startswith("nominator.node["))


def _has_versions(state: State) -> bool:
    return any(name.startswith("api.pod[") and name.endswith(".version") for name in state)


def _always(state: State) -> bool:
    return True


class Named(Data):
    """Fields that may differ after different runs to one state, in the states where `there` is so: the page has the reason by the name."""

    name: str
    kinds: re.Pattern[str]
    there: Callable[[State], bool] = _always


QUEUED = r"queue\.(activeQ|unschedulablePods).*"
NAMED = tuple(
    Named(name, re.compile(kinds), there)
    for name, kinds, there in (
        ("attempts", QUEUED + r"\.(Attempts|\w+Count|WasFlushedFromUnschedulable)$", _always),
        ("backoff", r"queue\.activeQ\(\*queue\.activeQueue\)\.(queue|backoffQPopper)\b", _backing_off),
        ("batch", r"framework\.batch\.lastCycle\b", _always),
        ("cycles", r"queue\.(moveRequestCycle|activeQ.*\.schedCycle)$", _always),
        ("emitting", r".*\.cache\.emittingEvents$", _always),
        ("empty nomination", r"queue\.nominator\.nominatedPod(s|ToNode)(\[\])?$", _not_all_nominated),
        ("events", r"queue\.activeQ.*\.inFlightEvents\b", _always),
        ("generations", r"(cache|scheduler\.nodeInfoSnapshot)\b.*\.[gG]eneration$", _always),
        ("kubelet", r"cache\.podStates\[\]\.pod\.Status$", _has_versions),
        ("left over", r"cache\.nodes\[\]\.info\.Allocatable\b", _nodeless),
        ("lock", r"queue\.lock\b", _always),
        ("old objects", r"scheduler\.nodeInfoSnapshot\b.*[pP]ods\w*\[\].*\.(Status|Spec|resourceVersion)$", _always),
        ("order of nominations", r"queue\.nominator\.nominatedPods\[\]\[\]", _always),
        ("pods of a node", r"cache\.nodes\[\]\.info\.Pods\w*\[\]", _always),
        ("snapshot", r"scheduler\.nodeInfoSnapshot\b", _no_snapshot),
    )
)  # fmt: skip

SET_UP = re.compile(
    r"queue\.(pluginToEventsMap|queueingHintMap)\b|.*\.(randomVolumeIDPrefix|handlerRegistration|GatingPluginEvents)\b|framework\.enqueueExtensions\[\]$"
)
"""What depends on the order of a Go map in New, or is random there: a restart makes it again. It is not compared."""


@dataclass
class Hidden:
    """What was kept in each state of a model, in every way in which it was met, with the number of different runs to it.

    `taken`: after how many different runs each transition was taken. `kinds` are the fields that were met, and `changing` those of them that a step changes.
    """

    graph: StateGraph
    states: dict[int, State] = field(default_factory=dict)
    memories: dict[int, Counter[frozenset[tuple[str, str]]]] = field(default_factory=dict)
    taken: Counter[int] = field(default_factory=Counter)
    kinds: set[str] = field(default_factory=set)
    changing: set[str] = field(default_factory=set)
    _runs: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.several = several(self.graph)

    def add(self, run: Planned[Timing], case: Case, outcome: Outcome) -> None:
        """Take in a run, up to where it differs from the model."""
        state, memory = dict(case.initial), dict(outcome.kept)
        self.kinds |= memory.keys()
        path = FIRST
        for edge, step, done in zip(run.edges, case.steps, outcome.forced, strict=False):
            if done.differs:
                return
            state |= step.changes
            memory = {kind: text for kind, text in (memory | done.keeps).items() if text}
            self.kinds |= done.keeps.keys()
            self.changing |= done.keeps.keys()
            path = _longer(path, edge)
            if path not in self._runs:
                self._runs.add(path)
                self.taken[edge] += 1
                number = int(self.graph.targets[edge])
                self.states.setdefault(number, dict(state))
                kept = frozenset((k, t) for k, t in memory.items() if not SET_UP.match(k))
                self.memories.setdefault(number, Counter())[kept] += 1

    def is_new(self, edges: list[int]) -> bool:
        """Whether no run has come by this way."""
        return reduce(_longer, edges, FIRST) not in self._runs

    @property
    def left(self) -> list[int]:
        """The transitions that more than one way leads to, and that only one run has taken."""
        return [edge for edge in self.several if self.taken[edge] == 1]

    @property
    def compared(self) -> list[int]:
        """The states to which at least two different runs came."""
        return [number for number, met in self.memories.items() if met.total() > 1]

    def unlike(self, number: int) -> set[str]:
        """By which names the fields of a state are known that were not the same after all runs; a field that no name fits is there itself. What no step changes is as it was set up."""
        first, *others = self.memories[number]
        kinds = {kind for other in others for kind, _ in first ^ other if kind in self.changing}
        return {name_of(kind, self.states[number]) for kind in kinds}

    def row(self, name: str) -> str:
        """The scenario's row of the table."""
        compared = self.compared
        totals = [self.memories[number].total() for number in compared]
        unlike = Counter(found for number in compared for found in self.unlike(number))
        equal = sum(not self.unlike(number) for number in compared)
        told = ", ".join(f"{found} {n:,}" for found, n in sorted(unlike.items()))
        cells = [
            f"{self.graph.edges:,}",
            f"{len(self.several):,}",
            f"{sum(n > 1 for n in self.taken.values()):,}",
            f"{self.graph.states:,}",
            f"{len(compared):,}",
            f"{sum(n * (n - 1) // 2 for n in totals):,}",
            f"{equal:,}",
            f"{len(compared) - equal:,}",
        ]
        return f"| {name} | {' | '.join(cells)} | {told} |"


FIRST = 0


def _longer(path: int, edge: int) -> int:
    return hash((path, edge))


def several(graph: StateGraph) -> list[int]:
    """The transitions that more than one run can take: more than one way leads to the state that they begin in."""
    sources = np.repeat(np.arange(graph.states), np.diff(graph.starts))
    ways = np.bincount(graph.targets, minlength=graph.states)
    ways[0] += 1
    while True:
        more = ways.copy()
        np.maximum.at(more, graph.targets, np.where(ways[sources] > 1, 2, 0))
        if (more == ways).all():
            return np.flatnonzero(ways[sources] > 1).tolist()
        ways = more


def name_of(kind: str, state: State) -> str:
    """The name of a difference; the kind itself if it has none."""
    return next((n.name for n in NAMED if n.kinds.match(kind) and n.there(state)), kind)


def hidden_state(model: Model, built: Built) -> Hidden:
    """A tour of a scenario, then other runs to each transition that only one has taken; and what was kept in each state."""
    graph = state_graph(model.system)
    found, cases = Hidden(graph), Cases(model, graph)
    locked = np.array([f"{t.part}.{t.step}" in WITHIN_LOCKS.keys() - HELD for t in model.system.transitions])
    closed = locked[graph.labels].astype(np.uint8)
    plan: Plan[Timing] = Plan(graph, lambda: Guided(model, graph), closed)
    for runs in (plan.runs(), others(found, lambda: Guided(model, graph), closed)):
        for batch in batches(runs):
            played = [cases.case(str(i), 0, run.edges, run.about) for i, run in enumerate(batch)]
            outcomes = run_cases(built, played, keeps=True)
            for run, case in zip(batch, played, strict=True):
                found.add(run, case, outcomes[case.id])
    return found


def others(found: Hidden, guide: Callable[[], Guided], closed: Flags) -> Iterator[Planned[Timing]]:
    """Runs of random ways from the first state, until two have taken each transition that has two ways to it, or so many were tried."""
    graph, random = found.graph, Random(0)
    sources = np.repeat(np.arange(graph.states), np.diff(graph.starts)).tolist()
    into: list[list[int]] = [[] for _ in range(graph.states)]
    for edge in np.flatnonzero(closed == 0).tolist():
        into[graph.targets[edge]].append(edge)
    for _ in range(TRIES):
        for edge in reversed(found.left):
            way = [edge]
            while sources[way[-1]] and len(way) < LONGEST:
                state = sources[way[-1]]
                nearer = [
                    e for e in into[state] if sources[e] < state
                ]  # states are numbered as they were found
                way.append(random.choice(nearer if random.random() < NEARER else into[state]))
            one, path = guide(), way[::-1]
            if not sources[path[0]] and found.is_new(path) and not any(map(one.take, path)):
                yield Planned(tuple(path), one.end(len(path)))


def batches(runs: Iterator[Planned[Timing]]) -> Iterator[list[Planned[Timing]]]:
    """So many runs at once as the driver is given."""
    while batch := list(islice(runs, AT_ONCE)):
        yield batch


def rows_of(text: str) -> dict[str, str]:
    """The rows of the page, by their scenarios."""
    rows = text.partition(BEGIN)[2].partition(END)[0].strip().splitlines()[2:]
    return {row.split("|")[1].strip(): row for row in rows}


def put(text: str, rows: Mapping[str, str]) -> str:
    """The page with other rows."""
    new = "\n".join([BEGIN, HEADER, "|---" * (HEADER.count("|") - 1) + "|", *rows.values(), END])
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: new, text, flags=re.DOTALL)
