"""The rows of `podrace verify`: in which order they come, when they are printed, and what is kept when it is stopped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podrace.analysis.compare import schedulers
from podrace.analysis.compare.inquiry import candidates_of, default_release, put_in
from podrace.analysis.compare.relevance import by_relevance, touched_by
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
