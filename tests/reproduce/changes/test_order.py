"""In which order a change is looked at, and when it is enough."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from podrace.checker.core.exploration import Budget
from podrace.reports.tours import Departure
from podrace.reports.verify.code_change import CodeChange, Probed, Toured
from podrace.reproduce.changes import judge
from podrace.reproduce.changes.beyond import Place
from podrace.reproduce.changes.damaging import Damage, Played
from podrace.reproduce.changes.functions import WhatChanged
from podrace.reproduce.changes.judge import (
    BASE_STATES,
    FIRST,
    QUIET,
    SETTLED,
    SETTLED_SECONDS,
    SHARES,
    Effort,
    Judging,
)
from podrace.reproduce.changes.lines import NOTHING, ChangedLine, Counted
from podrace.reproduce.changes.probes import Probe, using
from podrace.reproduce.changes.replays import Questions
from podrace.reproduce.changes.sources import Change
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.running import Built
from podrace.scenarios import Scenario, shipped

LINE, OTHER = (ChangedLine("pkg/scheduler/a.go", number, (number, 1)) for number in (3, 30))
BOTH = frozenset({LINE, OTHER})


def departing(probe: Probe) -> Any:
    """The same with a run that leaves the model in its first step."""
    place = SimpleNamespace(scenario=probe.scenario)
    told = Probed(probe.scenario.name, 24, 10, 2, (Departure("pop", 3, 0, "pop(p): x: model 1, real 2", ()),))
    facts = {"told": told, "departures": (place,), "places": [place], "reached": True}
    return SimpleNamespace(
        **{name: getattr(probe, name) for name in ("scenario", "cases", "seen", "counted")}, **facts
    )


class Order:
    """A judgement in which nothing is built or run, and what it did, in order; `missed` and `idle` lines are not executed, or nothing depends on them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        self.done: list[str] = []
        self.run: list[str] = []
        self.missed = self.idle = frozenset[ChangedLine]()
        self.departs = False
        self.departing: tuple[int, ...] = ()
        self.left = 0.0
        built = Built(parse_version("1.36.3"), tmp_path / "built", {})
        monkeypatch.setattr(judge, "questions_of", lambda *_: Questions([], [], []))
        monkeypatch.setattr(judge, "mendable", lambda *_: [])
        monkeypatch.setattr(judge, "known_fixes", lambda *_: self.notes("fixes"))
        monkeypatch.setattr(judge, "probes", self.probes)
        monkeypatch.setattr(judge, "departures", self.tours)
        for side in ("_built", "_changed"):
            monkeypatch.setattr(Judging, side, lambda *_: built)
        monkeypatch.setattr(Damage, "look", lambda damage, played, until: self.look(damage, played))
        monkeypatch.setattr(
            Damage, "said_of", lambda damage, found: ([*self.idle], [], [*(found.executed - damage.looked)])
        )
        self.folder = tmp_path

    def notes(self, what: str) -> list[object]:
        self.done.append(what)
        return []

    def probes(
        self, waiting: deque[Scenario], _1: object, _2: object, _3: object, _4: object, goes_on: Callable[[], bool], *_: object
    ) -> Iterator[Probe]:  # fmt: skip
        while waiting and goes_on():
            self.done.append("runs")
            counted = NOTHING, Counted(BOTH, BOTH - self.missed)
            self.run.append(waiting[0].name)
            probe = Probe(waiting.popleft(), (), counted, ((), ((),)), 10)
            yield departing(probe) if len(self.run) in self.departing else probe

    def look(self, damage: Damage, played: list[Played]) -> None:
        self.done.append("damage")
        damage.looked |= BOTH - self.missed

    def tours(
        self, scenarios: list[Scenario], _1: object, _2: object, _3: object, _4: object, _5: object, left: Callable[[], float]
    ) -> Iterator[tuple[Toured, list[Place]]]:  # fmt: skip
        self.done.append("tour")
        self.left = left()
        departures = (Departure("pop", 3, 0, "pop(p): x: model 1, real 2", ("a",)),) if self.departs else ()
        yield Toured(scenarios[0].name, 10, 10, departures), []

    def judged(self) -> CodeChange:
        change = Change("x", parse_version("1.36.3"), (), self.folder)
        return Judging(
            change, WhatChanged((), ()), Effort(Budget(), scenarios=shipped()), None, lambda _: None  # type: ignore[arg-type]
        ).judged()  # fmt: skip


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Order:
    return Order(monkeypatch, tmp_path)


def test_tours_come_before_other_scenarios_once_all_lines_are_known_to_matter(order: Order) -> None:
    """A loop rewritten was run in scenario after scenario until time was up, and never toured."""
    found = order.judged()
    assert order.done[: FIRST + 4] == ["runs"] * FIRST + ["damage", "tour", "fixes", "runs"]
    assert order.done.count("runs") == len(order.run) == SETTLED
    assert order.run[0] == "v-b-deleted", "little hides there what a change does"
    assert order.done.count("tour") == 1
    assert found.answer == "NO DIFFERENCE SEEN"
    assert f"random runs ({SETTLED} of {found.scenarios} scenarios done)" in found.because
    assert 0 < order.left <= SHARES["toured"] * SETTLED_SECONDS, "what is settled has not all of ten minutes"


@pytest.mark.parametrize("which", ["missed", "idle"])
def test_it_goes_on_while_a_line_is_not_known_to_matter(order: Order, which: str) -> None:
    setattr(order, which, frozenset({OTHER}))
    found = order.judged()
    assert found.answer == "INCONCLUSIVE"
    assert order.done.count("runs") == found.scenarios
    assert order.done.index("tour") > len(shipped())


def test_a_tour_that_departs_ends_that(order: Order) -> None:
    order.departs = True
    assert order.judged().answer == "CHANGES WITHOUT A VIOLATION"


@pytest.mark.parametrize(("where", "count"), [((3,), 3 + QUIET), ((3, 20), 20 + QUIET)])
def test_no_others_are_run_where_none_leave_the_model_any_more(
    order: Order, monkeypatch: pytest.MonkeyPatch, where: tuple[int, ...], count: int
) -> None:
    """Where a release of volumes was left out 100 clusters without volumes were run until time was up."""
    monkeypatch.setattr(judge, "beyond", lambda *_: ())
    order.departing = where
    found = order.judged()
    assert found.answer == "CHANGES WITHOUT A VIOLATION"
    assert len(order.run) == count


def test_clusters_that_use_what_is_changed_come_first() -> None:
    """Unreserve of VolumeBinding returns at once where no pod has a volume: 132 scenarios were run without one."""
    scenarios = shipped()
    for part, field in (("volumebinding", "volume_claims"), ("podgroups", "groups")):
        found = using(scenarios, [f"scheduler.{part}.a.A.b", "scheduler.queue.b.B.c"])
        have = [bool(getattr(one.spec, field)) for one in found]
        assert have == sorted(have, reverse=True)
        assert True in have
        assert {one.name for one in found} == {one.name for one in scenarios}
    assert using(scenarios, ["scheduler.queue.b.B.c"]) == list(scenarios)


def test_the_base_is_asked_for_so_many_states(
    order: Order, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A bound by the clock makes the verdict depend on how busy the machine is."""
    asked: list[Budget] = []
    monkeypatch.setattr(judge, "finding_in_base", lambda _1, _2, _3, budget, _4: asked.append(budget))
    change = Change("x", parse_version("1.36.3"), (), tmp_path)
    for most in (None, 1_000):
        effort = Effort(Budget(max_states=most))
        judging = Judging(change, WhatChanged((), ()), effort, None, lambda _: None)  # type: ignore[arg-type]
        judging._in_base(shipped()[0], "S-CAP", BASE_STATES)
    assert [one.max_states for one in asked] == [BASE_STATES, 1_000]
    assert all(one.timeout is not None and one.timeout > 500 for one in asked)
