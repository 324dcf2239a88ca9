"""Scales of time from the question to the report: what they assume is said, and no other question is given their answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from podrace.analysis.affected import Answered
from podrace.analysis.chain import verdict_on
from podrace.analysis.prove.proof_of_property import prove_all
from podrace.analysis.prove.proof_request import ProofRequest, template_of
from podrace.analysis.request.plan import Run, at_any_time
from podrace.analysis.stored.replayed import replayed
from podrace.analysis.stored.saved_trace import stored_trace
from podrace.analysis.systems import system_of
from podrace.api import check as api_check
from podrace.checker.core.exploration import Budget
from podrace.checker.verdict_cache import VerdictCache
from podrace.cli.pytest_plugin import Podrace
from podrace.model.environment.objects import Scope
from podrace.model.history import resolve
from podrace.reports.answers.proof_report import Proof, verdict_words
from podrace.reports.ci_outcome import message
from podrace.reports.document import Known
from podrace.reports.formats.github import to_annotations
from podrace.reports.formats.markdown import to_markdown
from podrace.reports.text.findings_text import conclusion
from podrace.reports.text.table import columns_of
from podrace.reports.verify.comparison_rows import aside
from podrace.scenarios import find_scenarios, parse_scenario
from tests.cli.helpers import Shell

BUDGET = Budget(jobs=1)
ASSUMED = " Assumed: nothing under way takes minutes."
TEXT = find_scenarios("gone-victim")[0].text.replace('"1.33.0"', '"1.36.3"')
SCALES = TEXT.replace("{pod_events: 2}", "{pod_events: 2, time: scales}")
SLOW = TEXT.replace(
    "{pod_events: 2}", "{pod_events: 2, time: scales, slow: [failure handler, preemption goroutine]}"
)


def run_of(text: str, release: str = "1.36.3", name: str = "S-STUCK") -> Run:
    return Run(parse_scenario(text), resolve(release), name)


def test_no_two_of_them_have_one_key(tmp_path: Path) -> None:
    runs = [run_of(text) for text in (TEXT, SCALES, SLOW)]
    systems = [system_of(run) for run in runs]
    cache = VerdictCache(tmp_path)
    assert len({cache.key(system, "S-STUCK", {}) for system in systems}) == 3
    assert cache.key(
        system_of(replace(runs[1], scenario=at_any_time(runs[1].scenario))), "S-STUCK", {}
    ) == cache.key(systems[0], "S-STUCK", {})


@pytest.mark.parametrize("order", [(SCALES, TEXT), (TEXT, SCALES)])
def test_an_answer_that_is_kept_is_given_to_its_own_question_only(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    file = tmp_path / "one.yaml"
    for text in (*order, *order):
        file.write_text(text)
        (found,) = api_check(file, cache=tmp_path / "kept")
        assert (found.verdict, found.depth) == (("HOLDS", 40) if text is SCALES else ("VIOLATED", 35))
        assert found.words.endswith(ASSUMED) == (text is SCALES)


def test_a_test_of_a_scenario_asks_as_the_scenario_says(
    tmp_path: Path, podrace: Podrace, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text, expected in (("any", TEXT, "VIOLATED"), ("scales", SCALES, "HOLDS")):
        (tmp_path / f"{name}.yaml").write_text(f"{text}expect: {{S-STUCK: {expected}}}\n")
    for _ in range(2):
        assert Shell(capsys)("test", str(tmp_path), "--cache", str(tmp_path / "kept")).code == 0
    podrace.check(tmp_path / "scales.yaml", property="S-STUCK", cache=tmp_path / "kept")
    podrace.violates(tmp_path / "any.yaml", property="S-STUCK", steps=36, cache=tmp_path / "kept")


def test_what_is_assumed_is_said_everywhere() -> None:
    found = verdict_on(run_of(SCALES), BUDGET)
    assert found.words == f"Holds in every interleaving: 381 states, 864 transitions, depth 40.{ASSUMED}"
    assert (found.scope["time"], "slow" in found.scope) == ("scales", False)
    assert (
        Answered("s", "S-STUCK", ("1.36.3",), found, found).words()
        == "HOLDS, 381 states, assumed: nothing under way takes minutes"
    )
    assert Answered("s", "S-STUCK", ("1.36.3",), found, found).as_row()["time"] == "scales"
    slow = verdict_on(
        run_of(SLOW.replace("[failure handler, preemption goroutine]", "[assume cache]")), BUDGET
    )
    assert slow.words.endswith(" Assumed: nothing under way takes minutes, but for: assume cache.")
    assert "Assumed" not in verdict_on(run_of(SLOW), BUDGET).words


def test_that_a_violation_needs_a_delay_is_said_everywhere() -> None:
    found = verdict_on(run_of(TEXT), BUDGET)
    needs = "VIOLATED (only with a delay of minutes)"
    answered = Answered("s", "S-STUCK", ("1.36.3",), found, found)
    assert (answered.words(), answered.as_row()["with_scales"]) == (f"{needs} after 36 steps", "HOLDS")
    assert columns_of([found])["verdict"] == [needs]
    assert message(found).count("with `time: scales`, the property holds (381 states)") == 1
    holds = verdict_on(run_of(SCALES), BUDGET)
    assert aside(holds, found) == aside(found, found) == " (only with a delay of minutes)"
    assert aside(found, holds, same=True) == " (no difference, before: only with a delay of minutes)"
    assert conclusion([found]) == f"1 verdict: 1 {needs}"
    for form in (to_markdown, to_annotations):
        assert "only with a delay of minutes" in form([found])
    assert '"with_scales":{"verdict":"HOLDS","states":381,"slow":["preemption goroutine"]}' in (
        msgspec.json.encode(found).decode()
    )
    known = msgspec.structs.replace(found, known=Known("accepted", "", "known.yaml:1"))
    assert known.marked == "VIOLATED (known, only with a delay of minutes)"
    assert verdict_on(run_of(SLOW), BUDGET).marked == "VIOLATED"


@pytest.mark.ci
def test_that_all_violating_clusters_need_a_delay_is_said_of_all_clusters() -> None:
    def proved(time: str) -> Proof:
        scope = Scope(pod_events=2, time=time)
        example = template_of([], scope, graceful=True, negative_priorities=False, empty_requests=False)
        (proof,) = prove_all(ProofRequest(2, 1, "1.36.3", properties=["S-STUCK"], example=example))
        return proof

    found = proved("any")
    assert found.marked == "VIOLATED (only with a delay of minutes)"
    assert "Only with a delay of minutes: with `--time scales` none is (" in verdict_words(found)
    scaled = proved("scales")
    assert scaled.marked == "HOLDS FOR ALL"
    assert not scaled.with_scales


@pytest.mark.parametrize("release", ["1.19.0", "1.23.17", "1.24.0"])
def test_up_to_1_23_a_parked_pod_was_flushed_after_a_minute(release: str) -> None:
    time = run_of(SCALES, release).scenario.spec.scope.time
    assert time == ("scales" if release == "1.24.0" else "any")


def test_a_stored_run_is_one_at_any_time() -> None:
    run = run_of(SLOW)
    stored = stored_trace(run, verdict_on(run, BUDGET))
    again = replayed(stored)
    assert (again.changed, again.finding().verdict, again.run.scenario.spec.scope.time) == (
        False,
        "VIOLATED",
        "any",
    )
