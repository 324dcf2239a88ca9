"""Two runs to one state of the model: does the scheduler keep the same in memory after both? The table of docs/notebook/hidden-state.md.

With `PODRACE_UPDATE_GOLDEN` `make real` runs all of its scenarios, and writes the rows.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from podrace.reports.reproduction import Differing
from podrace.reproduce.modules.held import QUEUE, linked
from podrace.reproduce.modules.module import parse_version, sources_of
from podrace.reproduce.outcome import Outcome, OutcomeStep
from podrace.reproduce.running import Built, built_for
from tests.reproduce.real.hidden_state import (
    NAMED,
    PAGE,
    Hidden,
    hidden_state,
    name_of,
    put,
    rows_of,
    several,
)
from tests.reproduce.real.test_real import go_or_skip
from tests.reproduce.real.test_tours import model_of

VERSION = parse_version("v1.36.3")
SAMPLE = ("hazards/domain-lost", "expired-assumption")
NAMES = {named.name for named in NAMED}


def found_in(name: str, built: Built) -> Hidden:
    model = model_of(name, VERSION.plain)
    assert model is not None
    return hidden_state(model, built)


@pytest.mark.real
def test_two_runs_to_one_state_leave_the_same_in_memory() -> None:
    built, rows = built_for(VERSION, go_or_skip(), print), rows_of(PAGE.read_text(encoding="utf-8"))
    assert len(rows) == 20
    updates = bool(os.environ.get("PODRACE_UPDATE_GOLDEN"))
    found = {name: found_in(name, built) for name in (rows if updates else SAMPLE)}
    made = {name: hidden.row(name) for name, hidden in found.items()}
    print(*made.values(), sep="\n")
    if updates:
        PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")
    for hidden in found.values():
        assert updates or not hidden.left
        assert {name for number in hidden.compared for name in hidden.unlike(number)} <= NAMES
    assert made == {name: row for name, row in rows.items() if name in made}


@pytest.mark.real
def test_a_variable_that_the_model_lacks_is_named(tmp_path: Path) -> None:
    """A counter is put into a copy of the queue: of the pods in flight at each move."""
    go = go_or_skip()
    tree = tmp_path / "kubernetes"
    linked(sources_of(VERSION, go, tmp_path), tree)
    file = tree / QUEUE / "scheduling_queue.go"
    text = file.read_text(encoding="utf-8")
    text, fields = re.subn(r"(?m)^type PriorityQueue struct \{$", r"\g<0>\n\tplanted int", text)
    move = r"(?m)^func \(p \*PriorityQueue\) moveAllToActiveOrBackoffQueue\(.*\{$"
    text, moves = re.subn(move, r"\g<0>\n\tp.planted += len(p.activeQ.listInFlightPods())", text)
    assert (fields, moves) == (1, 1)
    file.unlink()  # it is a link to the module cache
    file.write_text(text, encoding="utf-8")
    hidden = found_in(SAMPLE[0], built_for(replace(VERSION, tree=tree), go, print))
    assert {name for number in hidden.compared for name in hidden.unlike(number)} - NAMES == {"queue.planted"}


def ran(*kept: dict[str, str]) -> Outcome:
    return Outcome("", "DONE", steps=tuple(OutcomeStep(keeps=now) for now in kept), kept={"set": "up"})


def test_memory_is_compared_after_different_runs_to_a_state() -> None:
    """By edges 0 and 2, or 1 and 3, to state 3, and on by edge 4; a run that differs is not taken in from there on."""
    graph = SimpleNamespace(
        states=5, edges=5, starts=np.array([0, 2, 3, 4, 5, 5]), targets=np.array([1, 2, 3, 3, 4])
    )
    assert several(graph) == [4]  # type: ignore[arg-type]
    case = SimpleNamespace(
        initial={"scheduler.phase": "IDLE"}, steps=[SimpleNamespace(changes={"x": n}) for n in range(3)]
    )
    hidden = Hidden(graph)  # type: ignore[arg-type]

    def add(edges: tuple[int, ...], *kept: dict[str, str]) -> None:
        hidden.add(SimpleNamespace(edges=edges), case, ran(*kept))  # type: ignore[arg-type]

    add((0, 2, 4), {"queue.a": "1;", "queue.b": "1;"}, {"queue.moveRequestCycle": "1;"}, {"queue.b": ""})
    assert (hidden.compared, hidden.left) == ([], [4])
    add((0, 2, 4), {"queue.a": "2;"}, {}, {})  # the same way again
    assert hidden.compared == []
    add((1, 3, 4), {"queue.a": "1;"}, {"queue.moveRequestCycle": "2;", "queue.b": "1;"}, {"queue.b": ""})
    assert (hidden.compared, hidden.left) == ([3, 4], [])
    assert [hidden.unlike(number) for number in hidden.compared] == [{"cycles"}, {"cycles"}]
    assert hidden.row("here") == "| here | 5 | 1 | 1 | 5 | 2 | 2 | 0 | 2 | cycles 2 |"

    differs = OutcomeStep(differs=(Differing("x", 1, 2),), keeps={"queue.c": "1;"})
    done = ran({"queue.a": "2;"}, {}, {})
    end = Outcome("", "DIFFERS", steps=(*done.steps[:2], differs), kept=done.kept)
    hidden.add(SimpleNamespace(edges=(1, 2, 4)), case, end)  # type: ignore[arg-type]
    unlike = [hidden.unlike(number) for number in hidden.compared]
    assert unlike == [{"cycles", "queue.a", "queue.b"}, {"cycles"}]


@pytest.mark.parametrize(
    ("kind", "state", "name"),
    [
        ("scheduler.nodeInfoSnapshot.nodeInfoMap", {"scheduler.phase": "IDLE"}, "snapshot"),
        ("scheduler.nodeInfoSnapshot.nodeInfoMap", {"scheduler.phase": "FILTERING"}, None),
        ("cache.nodes[].info.Allocatable.MilliCPU", {"cache.live[n]": False}, "left over"),
        ("cache.nodes[].info.Allocatable.MilliCPU", {"cache.live[n]": True}, None),
        ("queue.activeQ(*queue.activeQueue).queue.data.items", {"queue.sub_queue[p]": "BACKOFF"}, "backoff"),
        ("queue.activeQ(*queue.activeQueue).queue.data.items", {"queue.sub_queue[p]": "ACTIVE"}, None),
        ("cache.nodes[].info.Pods", {}, None),
        ("cache.nodes[].info.Requested.MilliCPU", {}, None),
        ("cache.podStates[].pod.Status", {}, None),
        ("queue.nominator.nominatedPodToNode[]", {"nominator.node[p]": None}, "empty nomination"),
        ("queue.nominator.nominatedPodToNode[]", {"nominator.node[p]": "n"}, None),
        ("queue.unschedulablePods.podInfoMap[].UnschedulablePlugins", {}, None),
    ],
)
def test_a_difference_has_its_name_only_where_its_reason_holds(
    kind: str, state: dict[str, object], name: str | None
) -> None:
    assert name_of(kind, state) == (name or kind)


def test_the_page_has_the_reason_for_each_name() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("## Fields that differ")[2]
    assert sorted(re.findall(r"(?m)^\| ([a-z ]+) \| ", text)) == sorted(NAMES)
