"""In which order a change is looked at, and when it is enough."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from podrace.checker.core.exploration import Budget
from podrace.reports.tours import Departure
from podrace.reports.verify.code_change import CodeChange, Toured
from podrace.reproduce.changes import judge
from podrace.reproduce.changes.beyond import Place
from podrace.reproduce.changes.damaging import Damage, Played
from podrace.reproduce.changes.functions import WhatChanged
from podrace.reproduce.changes.judge import FIRST, SETTLED, Effort, Judging
from podrace.reproduce.changes.lines import NOTHING, ChangedLine, Counted
from podrace.reproduce.changes.probes import Probe
from podrace.reproduce.changes.replays import Questions
from podrace.reproduce.changes.sources import Change
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.running import Built
from podrace.scenarios import Scenario, shipped

LINE, OTHER = (ChangedLine("pkg/scheduler/a.go", number, (number, 1)) for number in (3, 30))
BOTH = frozenset({LINE, OTHER})


class Order:
    """A judgement in which nothing is built or run, and what it did, in order; `missed` and `idle` lines are not executed, or nothing depends on them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        self.done: list[str] = []
        self.run: list[str] = []
        self.missed = self.idle = frozenset[ChangedLine]()
        self.departs = False
        built = Built(parse_version("1.36.3"), tmp_path / "built", {})
        monkeypatch.setattr(judge, "changed_tree", lambda *_: nullcontext(tmp_path))
        monkeypatch.setattr(judge, "taken", lambda one: one)
        monkeypatch.setattr(judge, "questions_of", lambda *_: Questions([], [], []))
        monkeypatch.setattr(judge, "mendable", lambda *_: [])
        monkeypatch.setattr(judge, "known_fixes", lambda *_: self.notes("fixes"))
        monkeypatch.setattr(judge, "probes", self.probes)
        monkeypatch.setattr(judge, "departures", self.tours)
        monkeypatch.setattr(Judging, "_built", lambda *_: built)
        monkeypatch.setattr(Damage, "look", lambda damage, played, until: self.look(damage, played))
        monkeypatch.setattr(
            Damage, "said_of", lambda damage, found: ([*self.idle], [*(found.executed - damage.looked)])
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
            yield Probe(waiting.popleft(), (), counted, ((), ((),)), 10)

    def look(self, damage: Damage, played: list[Played]) -> None:
        self.done.append("damage")
        damage.looked |= BOTH - self.missed

    def tours(self, scenarios: list[Scenario], *_: object) -> Iterator[tuple[Toured, list[Place]]]:
        self.done.append("tour")
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
