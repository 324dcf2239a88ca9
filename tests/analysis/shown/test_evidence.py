"""What a real counterexample is shown with: computed from the model, and so compared with its states."""

from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console

from podrace.analysis.shown.steps import steps_from, steps_of
from podrace.analysis.systems import system_of
from podrace.checker.core.exploration import Budget
from podrace.checker.core.trace import plain_value
from podrace.checker.search import check
from podrace.reports.causes import drawn_causes
from podrace.reports.ci_outcome import Style, numbered
from podrace.reports.evidence import NodeShape, PodShape
from podrace.reports.filtered import to_json
from podrace.reports.formats.mermaid import to_mermaid
from podrace.reports.states import states_of
from podrace.reports.text.explanation import explain
from podrace.reports.text.lanes_text import print_lanes
from tests.cli.races import closed, nomination, wiped
from tests.reports.samples import from_json


def test_the_cluster() -> None:
    cluster = nomination().finding.cluster
    assert cluster is not None
    assert cluster.nodes == (NodeShape("n1", {"cpu": 2}),)
    assert cluster.pods == (
        PodShape("v", {"cpu": 2}, 0),
        PodShape("p", {"cpu": 2}, 10),
        PodShape("q", {"cpu": 1}, 10),
    )


def test_what_views_say_is_what_the_variables_are() -> None:
    for race in (nomination(), wiped()):
        memory = race.finding.memory
        assert memory is not None
        states = states_of(race.finding)
        assert len(states) == len(race.states)
        for state, variables in zip(states, race.states, strict=True):
            for view in memory.views:
                said = state.views[view.name]
                for cell in view.cells:
                    if said is not None and cell.subject in said:
                        assert said[cell.subject][cell.fact] == plain_value(variables[cell.variable])


def test_every_component_has_its_say() -> None:
    memory = nomination().finding.memory
    assert memory is not None
    assert [view.name for view in memory.views] == [
        "API server", "lister", "queue", "nominator", "cache", "snapshot", "scheduling cycle", "other goroutines",
    ]  # fmt: skip
    assert [channel.name for channel in memory.channels] == ["pod watch", "node watch"]


def waiting(variables: dict[str, Any], handler: str, name: str, busy: str) -> int:
    """How many events of the pod watch a handler has still to take, counted from the variables."""
    position = variables[f"pod_watch.next[{handler}]"] + variables[busy]
    return sum(
        bool(variables[f"pod_watch.log[{i}].{name}"])
        for i in range(position, variables["pod_watch.log.length"])
    )


def test_events_on_their_way() -> None:
    for variables, state in zip(nomination().states, states_of(nomination().finding), strict=True):
        events = state.channels["pod watch"]
        assert len(events) == variables["pod_watch.log.length"]
        to_queue = sum("the queue handler" in event.waits_for for event in events)
        assert to_queue == waiting(variables, "QUEUE", "for_queue", "handlers.queue_busy")
        to_cache = sum("the cache handler" in event.waits_for for event in events)
        assert to_cache == waiting(variables, "CACHE", "for_cache", "handlers.cache_busy")


def test_the_arrows_of_the_seed_race() -> None:
    arrows = [(c.after, c.number) for c in drawn_causes(nomination().finding)]
    assert arrows == [(4, 5), (5, 6), (10, 12), (12, 13)]


def test_what_would_have_prevented_the_seed_race() -> None:
    ways = [(w.before, [s.call for s in w.steps], w.stops) for w in nomination().finding.counterfactuals]
    again = ["handle_for_queue(p)", "update_queue(p)"]
    assert ways == [(14, ["live_get(p)", "add_fetched(p)"], 15), (14, [*again, *again], 15)]


def test_the_reasons_of_a_filter_are_in_every_form_of_the_race() -> None:
    """In the sentences they were; the lanes, Mermaid and counterfactuals had none."""
    found = nomination().finding
    assert [step.reasons for step in found.story if step.reasons] == [("Insufficient cpu",)]
    assert "reason: Insufficient cpu" in to_mermaid([found], Style("0"))
    page = Console(file=StringIO(), width=100)
    print_lanes(page, found.story, {})
    assert "\u2192 reason: Insufficient cpu" in page.file.getvalue()  # type: ignore[attr-defined]
    assert ": Insufficient cpu." in "".join(numbered(found))


def test_a_counterfactual_says_why_a_node_is_rejected() -> None:
    """Each of its steps is told with what it finds and for which reasons, like those of the run."""
    run = nomination().run
    system = system_of(run)
    (result,) = check(system, [run.property], Budget(jobs=1))
    trace = result.trace
    assert trace is not None
    taken = steps_from(system, trace.states[2], trace.steps[2:5], 3)
    assert taken == steps_of(system, trace)[2:5]
    assert taken[0].sentence == "The filters fail: p does not fit on n1: Insufficient cpu."


def test_the_seed_race_as_upstream_tells_it() -> None:
    """The numbered steps of issue 72124, in its order, are all in the story."""
    told = explain(nomination().finding)
    text = told.text
    points = [
        "The filters fail: p does not fit on n1: Insufficient cpu.",
        "Preemption decides: p is to go to n1.",
        "The scheduler writes to the API server that p is nominated to n1.",
        "API server: nominated to n1; lister and nominator: not nominated",
        "The filters pass: q fits on n1.",
        "The scheduler assumes q on n1",
        "p, nominated to n1, asks for 2 cpu and does not fit.",
        "the views differed on p: API server and lister: nominated to n1; nominator: not nominated.",
        "The pod watch's event for p had not reached the queue handler yet.",
    ]
    places = [text.index(point) for point in points]
    assert places == sorted(places)


def test_a_nomination_that_is_wiped_is_told() -> None:
    told = [t.text for t in explain(wiped().finding).steps]
    assert "The queue's handler updates p, and wipes its nomination to n1 from the nominator." in told


def test_what_holds_has_nothing_to_show() -> None:
    finding = closed().finding
    assert (finding.cluster, finding.memory, finding.causes) == (None, None, ())


def test_all_of_it_can_be_written_and_read_back() -> None:
    assert from_json(to_json([nomination().finding])) == [nomination().finding]
