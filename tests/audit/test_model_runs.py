"""What `audit` says of the logs of random runs of the model, beside what the model says of the same runs.

A run is recorded as the API server would: the writes with their bodies. S-CAP and S-AFF are the model's own properties without what the scheduler
only assumes; S-COND is the model's.
"""

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from tests.audit import model_runs
from tests.audit.model_runs import ASKED, RELEASES, expected, of_several
from tests.audit.mutations import mutated
from tests.audit.written_logs import Recorder, answer, answered


def agree(folder: Path, clusters: range, runs: int) -> Counter[tuple[str, str]]:
    """How often each answer was given; fails where one is not the model's."""
    told: Counter[tuple[str, str]] = Counter()
    for number in clusters:
        recorder, random = Recorder(number, RELEASES[number % len(RELEASES)]), Random(number)
        for attempt in range(runs):
            run = recorder.run(random)
            report = answered(folder, run.events, run.initial)
            for identifier in ASKED:
                given = answer(report, identifier)
                assert given.verdict == expected(run, identifier), (number, attempt, identifier, given)
                told[identifier, given.verdict] += 1
    return told


def never_wrong(folder: Path, clusters: range, runs: int, mutations: int) -> Counter[str]:
    """How often each answer was given on mutated logs; fails where one is wrong."""
    told: Counter[str] = Counter()
    for number in clusters:
        recorder, random = Recorder(number, RELEASES[number % len(RELEASES)]), Random(number)
        for attempt in range(runs):
            run = recorder.run(random, overlap=random.choice((0, 0, 0.3, 2)))
            for which in range(mutations):
                log = mutated(random, run.events)
                report = of_several(folder, log.texts, run, log.complete, log.from_the_start)
                for identifier in ASKED:
                    given = answer(report, identifier)
                    wrong = "EXCLUDED" if identifier in run.violated else "HIT"
                    assert given.verdict != wrong, (number, attempt, which, log.kind, identifier, given)
                    told[given.verdict] += 1
    return told


def test_the_answer_is_the_model_s(tmp_path: Path) -> None:
    told = agree(tmp_path, range(1005, 1009), 6)
    assert sum(told.values()) == 4 * 6 * 3
    assert {("S-CAP", "HIT"), ("S-CAP", "EXCLUDED"), ("S-AFF", "EXCLUDED")} <= set(told)


@pytest.mark.ci
def test_the_answer_is_the_model_s_on_hundreds_of_runs(tmp_path: Path) -> None:
    told = agree(tmp_path, range(1000, 1040), 8)
    assert {(identifier, verdict) for identifier in ASKED for verdict in ("HIT", "EXCLUDED")} <= set(told)


def test_runs_that_are_kept_are_asked_about_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `make audit-runs` does: the same counts, and no run is made anew."""

    def counts(*more: str) -> str:
        monkeypatch.setattr("sys.argv", ["", str(tmp_path), "--clusters", "1", "--runs", "2", *more])
        assert model_runs.main() == 0
        return capsys.readouterr().out

    first = counts()
    assert "runs: 2\n" in first
    monkeypatch.setattr(model_runs, "recorded", None)
    assert counts() == counts("--again") == first


def test_two_hundred_mutated_logs_weaken_answers_and_make_none_wrong(tmp_path: Path) -> None:
    told = never_wrong(tmp_path, range(1017, 1021), 5, 10)
    assert set(told) == {"HIT", "NOT EXCLUDED", "EXCLUDED"}
    assert sum(told.values()) == 200 * 3


@pytest.mark.ci
def test_a_thousand_mutated_logs(tmp_path: Path) -> None:
    never_wrong(tmp_path, range(2000, 2010), 5, 20)


@pytest.mark.campaign
def test_a_hundred_thousand_mutated_logs(tmp_path: Path) -> None:
    never_wrong(tmp_path, range(20_000, 20_100), 5, 200)
