"""The answer about a change, and what became of a counterexample."""

from __future__ import annotations

from contextlib import nullcontext
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from podrace.analysis.findings import undecided
from podrace.analysis.request.method import Method
from podrace.base.problems import Terminated, UsageProblem
from podrace.checker.core.exploration import Budget
from podrace.reports.reproduction import Differing
from podrace.reports.tours import Departure
from podrace.reports.verify.code_change import (
    CodeChange,
    Lines,
    Probed,
    Race,
    RaceWord,
    Toured,
    answer_of,
    exit_code,
)
from podrace.reports.verify.code_change_forms import FORMS, print_row, to_markdown
from podrace.reproduce.changes import judge, replays
from podrace.reproduce.changes.damaging import Damage
from podrace.reproduce.changes.functions import WhatChanged
from podrace.reproduce.changes.judge import SECONDS, Effort, Judging, cannot_matter
from podrace.reproduce.changes.lines import NOTHING
from podrace.reproduce.changes.replays import Counterexample, Replay, differing, race_of
from podrace.reproduce.changes.sources import CHANGES, DRIVERS, Change, first_error
from podrace.reproduce.changes.texts import FileChange
from podrace.reproduce.judging import RealRun
from podrace.reproduce.modules.module import KubernetesVersion, parse_version
from podrace.reproduce.modules.toolchain import BuildProblem, Go
from podrace.reproduce.outcome import Outcome, OutcomeStep
from podrace.reproduce.reproducing import Prepared
from podrace.reproduce.request import Question
from podrace.reproduce.running import Built
from podrace.scenarios import find_scenarios
from tests.reproduce.test_judging import as_the_model, ghost, with_step

ALL, SOME, NONE = Lines(2, 2), Lines(2, 1, ("a.go:1",)), Lines(2, 0, ("a.go:1", "a.go:2"))
DEPARTS = (Toured("two", 10, 5, (Departure("pop", 3, 0, "what differs", ("a", "b")),)),)


def race(outcome: RaceWord, **more: object) -> Race:
    differs = outcome in ("opens", "closes", "left the model")
    return Race("ghost", "S-GHOST", outcome, "REPRODUCED", "DIFFERS", differs=differs, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("outcomes", "lines", "tours", "answer", "code"),
    [
        (["opens", "closes"], ALL, (), "BREAKS", 1),
        (["opens"], NONE, None, "BREAKS", 1),
        (["closes", "still open"], ALL, (), "CLOSES", 0),
        (["closes", "still open"], ALL, DEPARTS, "CLOSES", 3),
        (["closes", "left the model"], SOME, (), "CLOSES", 3),
        (["left the model", "still open"], ALL, (), "CHANGES WITHOUT A VIOLATION", 3),
        (["still open"], ALL, DEPARTS, "CHANGES WITHOUT A VIOLATION", 3),
        (["still open", "open neither before nor after"], ALL, (), "NO DIFFERENCE SEEN", 0),
        (["still open"], SOME, (), "INCONCLUSIVE", 3),
        (["still open"], NONE, (), "INCONCLUSIVE", 3),
        (["closes"], NONE, (), "INCONCLUSIVE", 3),
        (["still open"], Lines(0, 0), (), "INCONCLUSIVE", 3),
    ],
)  # fmt: skip
def test_the_answer(outcomes, lines, tours, answer, code) -> None:
    races = tuple(race(one) for one in outcomes)
    said, because = answer_of(races, lines, tours)
    assert said == answer
    assert because
    assert exit_code(CodeChange("x", "v1.36.3", said, because, races=races, tours=tours)) == code


@pytest.mark.parametrize(
    ("why", "answer"),
    [
        ("panic: runtime error: index out of range [1] with length 1 [recovered]", "BREAKS"),
        ("fatal error: sync: unlock of unlocked mutex", "BREAKS"),
        ("panic: test timed out after 2m0s", "CHANGES WITHOUT A VIOLATION"),
        ("it did not end within 120 s", "CHANGES WITHOUT A VIOLATION"),
    ],
)
def test_a_change_that_panics_breaks(why: str, answer: str) -> None:
    """Only where the unchanged code executes the run is it a departure; a run that takes too long says nothing."""
    cause, words = f"start: CRASHED: {why.partition(': ')[0]}", f"start: CRASHED: {why}"
    probed = Probed("two", 24, 600, 1, (Departure(cause, 3, 0, words, (), False),))
    said, because = answer_of([], Lines(1, 1), None, (), [probed])
    assert said == answer
    if answer == "BREAKS":
        ends = "the changed code ends the scheduler, and the unchanged code does not"
        assert because == f"{ends}: {why} (in two)"


def test_a_departure_is_told_of_both_sides() -> None:
    departure = Departure("pop", 3, 0, "pop(p): queue.sub_queue[p]: model None, real ACTIVE", ("a", "b"))
    found = CodeChange(
        "x", "v1.36.3", "CHANGES WITHOUT A VIOLATION", "it departs", lines=ALL, probed=(Probed("two", 24, 90, 1, (departure,)),)
    )  # fmt: skip
    text = to_markdown(found)
    told = text.replace("\\", "")
    assert (
        "two leaves the model: pop(p): queue.sub_queue[p]: before the change None, after it ACTIVE. After:\n\n1. a\n2. b"
        in told
    )


def test_text_has_the_last_steps_before_a_departure() -> None:
    departure = Departure("pop", 3, 0, "pop(p): x: model 1, real 2", tuple("abcdefghijk"))
    out = StringIO()
    print_row(Console(file=out, width=200), Probed("two", 24, 90, 1, (departure,)))
    assert (
        "leaves the model: pop(p): x: before the change 1, after it 2; after: (3 steps); d; e; f"
        in out.getvalue()
    )


@pytest.mark.parametrize(
    ("uncompared", "answer"), [("", "NO DIFFERENCE SEEN"), ("what is staged in the tree", "INCONCLUSIVE")]
)
def test_what_is_not_compared_of_a_tree_leaves_it_open(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, uncompared: str, answer: str
) -> None:
    """A tree is built with what is staged in it, and the base with what was published."""
    monkeypatch.setattr(judge, "lines_of", lambda _: ALL)
    for side in ("_built", "_changed"):
        monkeypatch.setattr(Judging, side, lambda *_: Built(parse_version("1.36.3"), tmp_path / "built", {}))
    monkeypatch.setattr(Judging, "_look", lambda self, *_: self.races.append(race("still open")))
    change = Change("x", parse_version("1.36.3"), (), tmp_path, uncompared=uncompared)
    found = Judging(change, WhatChanged((), ()), Effort(Budget()), None, lambda _: None).judged()  # type: ignore[arg-type]
    assert found.answer == answer


def test_an_interrupted_judgement_says_what_it_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """SIGTERM after all changed lines were executed without a difference is no NO DIFFERENCE SEEN."""

    def look(self: Judging, before: object, after: object) -> None:
        self.races.append(race("still open"))
        raise Terminated

    monkeypatch.setattr(judge, "lines_of", lambda _: ALL)
    for side in ("_built", "_changed"):
        monkeypatch.setattr(Judging, side, lambda *_: Built(parse_version("1.36.3"), tmp_path / "built", {}))
    monkeypatch.setattr(Judging, "_look", look)
    change = Change("x", parse_version("1.36.3"), (), tmp_path)
    found = Judging(change, WhatChanged((), ()), Effort(Budget()), None, lambda _: None).judged()  # type: ignore[arg-type]
    assert (found.answer, exit_code(found)) == ("INCONCLUSIVE", 3)
    assert found.because.endswith("; but podrace was interrupted")
    assert found.unfinished == "what was left when podrace was interrupted"
    assert [one.outcome for one in found.races] == ["still open"]


def test_a_signal_amid_a_search_ends_the_judgement(monkeypatch: pytest.MonkeyPatch) -> None:
    """`verdicts` answers a signal with what is undecided; the judgement went on to its random runs."""
    monkeypatch.setattr(replays, "verdicts", lambda runs, *_: [undecided(run) for run in runs])
    (scenario,) = find_scenarios("ghost")
    asked = replays.Question(scenario), parse_version("1.36.3"), "1.36.3", Budget(), Method()
    with pytest.raises(Terminated):
        list(replays.counterexamples(*asked))


def test_a_budget_of_time_is_that_of_all() -> None:
    assert Effort(Budget(timeout=60.0)).seconds == 60.0
    assert Effort(Budget()).seconds == SECONDS


def test_what_cannot_matter_and_what_is_not_judged() -> None:
    found = cannot_matter(WhatChanged((), (("a_test.go", "a test"),)), "x", "v1.36.3")
    assert (found.answer, exit_code(found)) == ("CANNOT MATTER", 0)
    assert found.because == "nothing of it is compiled into kube-scheduler: a test"
    found = cannot_matter(WhatChanged((), (), unjudged=("go.mod", "staging/a.go")), "x", "v1.36.3")
    assert (found.answer, exit_code(found)) == ("INCONCLUSIVE", 3)
    assert (
        found.because
        == "go.mod and 1 more may be part of kube-scheduler and is not judged: it belongs to another module"
    )


def made(
    before: Outcome,
    after: Outcome,
    without: tuple[str, ...] = (),
    base: int | None = None,
    steady: bool = True,
) -> Race:
    found, case = ghost()
    asked = Prepared(Question("ghost S-GHOST", parse_version("1.36.3"), None), found, case)
    differs = before != after if steady else None
    return race_of(Counterexample(asked, without), Replay(before), Replay(after), lambda: base, differs)


WHOLE = as_the_model()
LAST = {**WHOLE.steps[-1].real, "queue.sub_queue[p]": "NONE"}
MENDED = as_the_model(
    verdict="DIFFERS",
    steps=with_step(11, real=LAST, differs=(Differing("queue.sub_queue[p]", "UNSCHEDULABLE", "NONE"),)),
)
STOPPED = as_the_model(verdict="CANNOT BE FORCED", at=10, why="nobody stands there")


@pytest.mark.parametrize(
    ("before", "after", "without", "base", "outcome"),
    [
        (WHOLE, WHOLE, (), 11, "still open"),
        (WHOLE, MENDED, (), 11, "closes"),
        (WHOLE, STOPPED, (), 11, "left the model"),
        (MENDED, WHOLE, ("1",), None, "opens"),
        (STOPPED, WHOLE, ("1",), None, "opens"),
        (STOPPED, WHOLE, ("1",), 11, "left the model"),  # the base has it by another run that is no longer
        (STOPPED, WHOLE, ("1",), 13, "opens"),  # by a longer one
        (MENDED, MENDED, ("1",), None, "open neither before nor after"),
        (STOPPED, STOPPED, (), 11, "not judged"),
        (STOPPED, MENDED, ("1",), None, "left the model"),  # neither violates, and they differ
    ],
)
def test_what_became_of_a_counterexample(before, after, without, base, outcome) -> None:
    found = made(before, after, without, base)
    assert found.outcome == outcome
    assert found.differs == (before is not after)
    assert len(found.steps) == (len(WHOLE.steps) if outcome == "opens" else 0), (
        "the run of a race that opens is told"
    )


@pytest.mark.parametrize(
    ("variable", "outcome"), [("nominator.node[p]", "opens"), ("queue.sub_queue[p]", "left the model")]
)
def test_what_a_property_reads_and_nobody_sees(monkeypatch, variable: str, outcome: RaceWord) -> None:
    """It is as in the model where all steps were executed, unless the run differs in something else that the property reads."""
    monkeypatch.setattr(RealRun, "unseen", ("pod_watch.seen[QUEUE][p].exists",))
    odd = as_the_model(verdict="DIFFERS", steps=with_step(4, differs=(Differing(variable, None, "n1"),)))
    assert made(STOPPED, odd, ("1",)).outcome == outcome


def test_where_the_code_leaves_the_model() -> None:
    left = made(WHOLE, STOPPED)
    assert left.at == 10
    assert left.verdict_words.startswith(
        "left the model at step 10: CANNOT BE FORCED: nobody stands there; before the change REPRODUCED: "
    )


def odd(then: str | None) -> Outcome:
    """The first difference is in step 4; something that goes otherwise each time follows."""
    made = as_the_model(verdict="DIFFERS", at=4, steps=with_step(4, differs=(Differing("x", 1, 2),)))
    steps = [*made.steps]
    steps[6] = OutcomeStep(real={**made.steps[6].real, "nominator.node[p]": then})
    return msgspec.structs.replace(made, steps=tuple(steps))


def test_what_follows_a_difference_may_vary_if_the_ends_do_not() -> None:
    found, case = ghost()
    asked = Counterexample(Prepared(Question("ghost S-GHOST", parse_version("1.36.3"), None), found, case))

    def said(*rounds: tuple[Outcome, Outcome]) -> bool | None:
        sides, *others = [[Replay(one) for one in both] for both in rounds]
        return differing(asked, sides, others)

    assert said((odd("n1"), WHOLE), (odd("n1"), WHOLE))
    assert said((odd("n1"), WHOLE), (odd(None), WHOLE))
    assert said((odd("n1"), odd(None)), (odd(None), odd("n1"))) is False
    assert said((odd("n1"), WHOLE), (odd(None), MENDED)) is None
    assert said((STOPPED, WHOLE), (odd(None), WHOLE)) is None


def test_nothing_follows_from_replays_that_vary() -> None:
    found = made(WHOLE, MENDED, steady=False)
    assert (found.outcome, found.differs) == ("not judged", False)
    assert found.words == "a second replay of it went otherwise than the first"


def test_the_compilers_first_error_names_the_file_as_the_diff_does() -> None:
    text = """# k8s.io/kubernetes/pkg/scheduler/backend/queue
../sources/pkg/scheduler/backend/queue/nominator.go:114:2: undefined: lock
../sources/pkg/scheduler/backend/queue/nominator.go:120:2: undefined: other
"""
    path = "pkg/scheduler/backend/queue/nominator.go"
    change = Change("pr.diff", parse_version("1.36.3"), (FileChange(path, "", ""),), Path())
    assert first_error(BuildProblem("go test failed", text), change) == (
        f"{path}:114:2: undefined: lock",
        CHANGES,
    )
    assert first_error(BuildProblem("go test failed", "killed"), change) == ("go test failed", CHANGES)
    driver = "# podrace.local/driver\n./stage_world.go:7:2: not enough arguments in call to scheduler.New\n"
    assert first_error(BuildProblem("go test failed", driver), change) == (
        "./stage_world.go:7:2: not enough arguments in call to scheduler.New",
        DRIVERS,
    )
    assert first_error(BuildProblem("go test failed", driver + text), change)[1] == CHANGES


@pytest.mark.parametrize(
    ("base", "said"),
    [
        (True, "pr.diff: changes what podrace's driver is built on, and cannot be judged: ./world.go:7:2: wrong: keep"),
        (False, "v1.36.3: podrace's driver does not compile with it even without a change: ./world.go:7:2: wrong: name"),
    ],
)  # fmt: skip
def test_an_error_of_the_driver_alone_is_not_blamed_on_the_change(
    monkeypatch: pytest.MonkeyPatch, base: bool, said: str
) -> None:
    """Without the change the driver compiles, or it does not either."""

    def build(version: KubernetesVersion, go: object, say: object, counted: object, what: str) -> Built:
        if version.tree is None and base:
            return Built(parse_version("1.36.3"), Path(), {})
        raise BuildProblem("go test failed", "# driver\n./world.go:7:2: wrong\n")

    monkeypatch.setattr(judge, "built_for", build)
    monkeypatch.setattr(judge, "changed_tree", lambda change, say: nullcontext(Path("changed")))
    monkeypatch.setattr(Damage, "changed", lambda damage, packages: None)
    change = Change("pr.diff", parse_version("1.36.3"), (), Path())
    judging = Judging(change, WhatChanged((), ()), Effort(Budget()), Go("go", "go1.26.8"), lambda told: None)
    with pytest.raises(UsageProblem) as raised:
        judging.judged()
    assert str(raised.value).startswith(said)


def test_forms() -> None:
    found = CodeChange(
        "pr.diff", "v1.36.3", "BREAKS", "it opens 1: ghost S-GHOST", lines=SOME, races=(race("opens"),), tours=DEPARTS
    )  # fmt: skip
    text = to_markdown(found)
    assert text.startswith("# ❌ podrace: BREAKS\n\npr.diff on v1.36.3: it opens 1: ghost S-GHOST.\n")
    assert "- 1 of 2 changed lines were executed\n- races: 1 opens" in text
    assert "| ghost S-GHOST | REPRODUCED | DIFFERS | opens |" in text
    assert '"answer": "BREAKS"' in FORMS["json"](found)


def test_a_replay_that_does_not_end_takes_half_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of `gangs-deadlock` on 1.36.3 did not, and took two of ten minutes on both cores."""
    limits: list[float] = []

    def run(_1: Built, _2: str, _3: object, _4: Path, seconds: float, _5: object) -> str:
        limits.append(seconds)
        return f"it did not end within {seconds:.0f} s"

    monkeypatch.setattr(replays, "run_test", run)
    _, case = ghost()
    outcomes, counted = replays.replayed_at_once(Built(parse_version("1.36.3"), Path(), {}), [case])
    assert limits == [35.0]
    assert (outcomes[case.id].verdict, counted) == ("CRASHED", NOTHING)
