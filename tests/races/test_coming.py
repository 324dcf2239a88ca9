"""What 1.38.0-beta.0 mends: each change against the release before it, on the scenario that shows what was wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.search import check
from podrace.checker.trace.execution import replay
from podrace.cli import main
from podrace.model.history import resolve
from podrace.model.scheduler.queue.sub_queues import SubQueue
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios, parse_scenario
from tests.cli.helpers import flat
from tests.model.scheduler.test_special_claims import (
    CLAIM,
    CLUSTER,
    MADE,
    RESERVED,
    TOLD,
    USE,
    after,
    devices,
)

SCENARIOS = Path(__file__).parents[2] / "scenarios"

V, H = "VIOLATED", "HOLDS"
IN_FLIGHT = ("139418", "140269")


@pytest.mark.parametrize(
    ("scenario", "identifier", "release", "added", "verdict", "states"),
    [
        ("hazards/gone-victim", "S-STUCK", "1.37", (), V, 3200),
        ("hazards/gone-victim", "S-STUCK", "1.37", ("last-victim-gone",), H, 5268),
        ("hazards/gone-victim", "S-STUCK", "1.38.0-beta.0", (), H, 5268),
        ("hazards/namespace-unasked", "S-STUCK", "1.37", (), V, 43),
        ("hazards/namespace-unasked", "S-STUCK", "1.38.0-beta.0", (), H, 79),
        ("claims/reserved-after-allocation", "S-ASSUME", "1.36.3", IN_FLIGHT, V, 18214),
        (
            "claims/reserved-after-allocation",
            "S-ASSUME",
            "1.36.3",
            (*IN_FLIGHT, "flight-ends-alone"),
            H,
            216216,
        ),
    ],
)
def test_what_is_mended(
    scenario: str, identifier: str, release: str, added: tuple[str, ...], verdict: str, states: int
) -> None:
    (found,) = find_scenarios(str(SCENARIOS / f"{scenario}.yaml"))
    classes = resolve(release, added, (), found.feature_gates).classes
    (result,) = check(instrument(found.spec, classes, [PROPERTIES[identifier]]), [identifier])
    assert (result.verdict.name, result.counts.states, result.vacuous) == (verdict, states, False)


def test_a_nominated_node_that_becomes_too_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (SCENARIOS.parent / "docs" / "hazards.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"<!-- shrunk -->\n\n```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "shrunk.yaml").write_text(text, encoding="utf-8")
    assert main.run(["test", str(tmp_path / "shrunk.yaml")]) == 0
    assert "1 file: 4 passed, 0 failed, 0 undecided" in flat(capsys.readouterr().out)


@pytest.mark.parametrize(("release", "assumed"), [("1.37.2", "gpu1"), ("1.38.0-beta.0", "None")])
def test_an_allocation_that_was_not_written_is_not_assumed(release: str, assumed: str) -> None:
    lost = (*MADE, f"dynamic_resources.lose_allocation({USE})", f"dynamic_resources.assume_unwritten({USE})")
    assert devices(after(*lost, release=release)) == ["None", assumed, "gpu1"]


@pytest.mark.parametrize(
    ("gate", "sub_queue"), [(True, SubQueue.UNSCHEDULABLE), (False, SubQueue.BACKOFF)], ids=["on", "off"]
)
def test_whom_a_change_of_a_claim_is_asked_of(gate: bool, sub_queue: SubQueue) -> None:
    """A parked pod that no plugin is known to have rejected is moved by any change of a claim, unless only those that name it are asked."""
    text = CLUSTER.replace("pods: {", "pods: {q: {cpu: 1}, ")
    removed = () if gate else ("pre-queueing-hints",)
    classes = resolve("1.38.0-beta.0", (), removed).classes
    system = instrument(parse_scenario(text, "x.yaml").spec, classes, [])
    numbers = {transition.label: number for number, transition in enumerate(system.transitions)}
    run = (
        *RESERVED,
        f"dynamic_resources.create_claim({USE})",
        f"claim_cache.deliver(claim={CLAIM})",
        TOLD[0],
    )
    state = list(replay(system, tuple(numbers[label] for label in run)).states[-1])
    place = {variable.name: i for i, variable in enumerate(system.variables)}["queue.sub_queue[q]"]
    state[place] = SubQueue.UNSCHEDULABLE.value
    moved = Interpreter(system).successor(tuple(state), numbers[TOLD[1]])
    assert moved[place] == sub_queue.value
