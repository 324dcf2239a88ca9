"""The rows of `podrace verify`: in which order they come, when they are printed, and what is kept when it is stopped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podrace.analysis.compare import minimal_changes, schedulers
from podrace.analysis.compare.inquiry import candidates_of, default_release, put_in
from podrace.analysis.compare.relevance import by_relevance, touched_by
from podrace.analysis.prove.proof_of_property import Prover
from podrace.analysis.request.plan import Run, compose
from podrace.base.problems import Terminated
from podrace.cli.commands.compare.verify import diff_code
from podrace.model.history import RELEASES
from podrace.reports.document import Finding
from podrace.reports.verify.comparison import Comparison
from podrace.scenarios import catalogue
from tests.cli.helpers import TINY, Shell, finding, flat

TICKS = str(Path(__file__).parents[1] / "patches" / "ticks.py")


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    """Options for two scenarios with three questions."""
    (tmp_path / "one.yaml").write_text(TINY.replace("[S-CAP]", "[S-CAP, S-UNIQ]").replace("tiny", "one"))
    (tmp_path / "two.yaml").write_text(TINY.replace("tiny", "two"))
    files = (str(tmp_path / f"{name}.yaml") for name in ("one", "two"))
    return [word for file in files for word in ("--scenario", file)]


def order(key: str) -> list[str]:
    candidates = candidates_of([key])
    base = default_release(candidates)
    touched = touched_by(compose(base, (), ()), put_in(base, candidates))
    return [scenario.name for scenario in by_relevance(catalogue(), touched)]


def test_races_that_a_change_concerns_come_first() -> None:
    names = [scenario.name for scenario in catalogue()]
    assert order("72259")[:2] == ["nominated-node-race", "live-tree"]
    assert order("139450")[:3] == ["dropped-by-pop", "live-read-removes-node", "bound-but-requeued"]
    assert sorted(order("139450")) == sorted(names)
    nothing = compose(RELEASES[-1], (), ())
    assert [s.name for s in by_relevance(catalogue(), touched_by(nothing, nothing))] == names


def test_a_row_is_printed_when_it_is_decided(
    shell: Shell, two: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = []

    def search(system: object, run: Run, *_: object) -> Finding:
        printed.append(capsys.readouterr().out)
        return finding(run, "HOLDS")

    monkeypatch.setattr(schedulers, "verdict_in", search)
    ran = shell("verify", TICKS, "--alone", *two, "--release", "1.36.3")
    begun, *rows = [text for text in printed if text]
    assert begun.splitlines() == [
        "before: 1.36.3   after: 1.36.3 + Ticks",
        "",
        "row  property  scenario  before        after                          states  outcome",
    ]
    assert rows == [
        "1/3  S-CAP     one       HOLDS         HOLDS                           1 / 1  holds both (no difference)\n",
        "2/3  S-UNIQ    one       HOLDS         HOLDS                           1 / 1  holds both (no difference)\n",
    ]
    last = "3/3  S-CAP     two       HOLDS         HOLDS                           1 / 1  holds both (no difference)"
    assert ran.out.splitlines()[0] == last


@pytest.mark.parametrize("stop", [KeyboardInterrupt, Terminated])
def test_what_was_decided_is_kept_on_ctrl_c_and_sigterm(
    shell: Shell, two: list[str], monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    def search(system: object, run: Run, *_: object) -> Finding:
        if run.property == "S-UNIQ":
            raise stop
        return finding(run, "HOLDS")

    monkeypatch.setattr(schedulers, "verdict_in", search)
    line = ("verify", TICKS, "--alone", *two, "--release", "1.36.3")
    ran = shell(*line)
    assert (ran.code, ran.err) == (3, "")
    assert "1/3  S-CAP     one " in ran.out
    assert "2/3" not in ran.out
    assert "S-CAP: inconclusive STOPPED before all was compared: 1 of 3 decided; not decided: S-UNIQ (one), S-CAP (two)" in flat(ran.out)  # fmt: skip
    told = json.loads(shell(*line, "-o", "json").out)
    assert (told["left"], [pair["outcome"] for pair in told["pairs"]]) == (
        2,
        ["holds both", "inconclusive", "inconclusive"],
    )
    ran = shell("diff", "--before", "1.35.0", "--after", "1.36.0", *two)
    assert (ran.code, "STOPPED before all was compared: 1 of 3 decided" in ran.out) == (3, True)


def test_stopped_amid_the_safety_nets(shell: Shell, two: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(schedulers, "divergence", stop)
    ran = shell("verify", TICKS, "--alone", "--release", "1.36.3", *two[-2:])
    assert ran.code == 3
    assert "STOPPED before all was compared: 1 of 1 decided; regression checks and outcomes were not compared to the end" in flat(ran.out)  # fmt: skip
    assert diff_code(Comparison("a", "b", (), left=0)) == 3


def test_sets_of_changes_are_printed_as_they_are_decided_and_kept_when_stopped(
    shell: Shell, two: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = []
    stop_at = 99

    def search(run: Run, *_: object) -> Finding:
        printed.append(capsys.readouterr().out)
        if len(printed) == stop_at:
            raise Terminated
        return finding(run, "HOLDS" if len(run.composition.added) == 1 else "VIOLATED")

    monkeypatch.setattr(minimal_changes, "verdict_on", search)
    line = ("verify", "72259", "77990", "--minimal", "--release", "1.13.0", *two)
    ran = shell(*line)
    begun, first = [text for text in printed if text][:2]
    assert begun.splitlines() == [
        "before: 1.13.0   after: 1.13.0 + 72259 + 77990",
        "",
        "row  changes        verdict       steps      states  because of",
    ]
    assert first.split() == ["1/4", "none", "VIOLATED", "0", "1", "S-CAP", "in", "one"]
    assert (ran.code, "STOPPED" in ran.out) == (0, False)
    assert "Needed together, and none of them can be left out: 72259; or 77990" in ran.out
    printed.clear()
    stop_at = 5  # amid the third set
    ran = shell(*line)
    assert (ran.code, ran.err) == (3, "")
    assert "STOPPED after 2 of at most 4 sets: there may be others." in ran.out
    assert "none of them can be left out: 72259 (" in ran.out
    printed.clear()
    told = json.loads(shell(*line, "-o", "json").out)
    assert (told["stopped"], len(told["tried"]), told["minimal"]) == (True, 2, [["72259"]])


def _end(*_: object) -> Finding:
    raise Terminated


def test_a_proof_that_is_stopped_says_nothing_of_what_never_came_about(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ("prove", "--pods", "1", "--nodes", "1", "--property", "S-CAP", "-j", "1")
    whole = shell(*line)
    assert (whole.code, "Steps that never ran" in whole.out) == (0, True)
    monkeypatch.setattr(Prover, "_sweep", _end)
    ran = shell(*line)
    assert (ran.code, ran.err) == (3, "")
    assert "Nothing was decided" in ran.out
    assert "never ran" not in ran.out
    assert "in no cluster" not in ran.out


def test_a_proof_that_is_stopped_amid_its_counterexamples_is_told(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends, groups = iter([_end]), Prover._groups
    monkeypatch.setattr(Prover, "_groups", lambda *asked: next(ends, groups)(*asked))
    ran = shell("prove", "--pods", "1", "--nodes", "1", "--property", "S-CAP", "-j", "1")
    assert (ran.code, ran.err) == (3, "")
    assert "so far, in which it holds" in ran.out


def test_hazards_that_are_open_in_a_version(shell: Shell) -> None:
    """What is listed was searched in that version; what holds there is counted, and not listed."""
    ran = shell("hazards", "half-kept-out", "--release", "1.36.3", "-o", "json")
    (row,) = json.loads(ran.out)
    assert row == {"scenario": "half-kept-out", "property": "S-STUCK", "release": "1.36.3", "verdict": "VIOLATED", "steps": 15}  # fmt: skip
    ran = shell("hazards", "half-kept-out", "--release", "1.37.0")
    assert (ran.code, ran.out.partition(". ")[0]) == (
        0,
        "1.37.0: 0 open, 0 not decided, 1 hold in their clusters",
    )
    ran = shell("hazards", "half-kept-out", "--timeout", "5s")
    assert (ran.code, ran.err) == (2, "podrace: --timeout is for the searches of --release: name a version with --release\n")  # fmt: skip
    assert shell("hazards", "--release", "1.34.1").code == 2
