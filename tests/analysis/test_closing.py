"""What closes a race: the change or the later release, found by trying."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec
import pytest

from podrace.analysis import closing
from podrace.analysis.chain import bare_verdict, verdicts
from podrace.analysis.closing import OVER, closings
from podrace.analysis.request.method import USUAL, Method
from podrace.analysis.request.plan import Run, Selection, compose_for, plan
from podrace.analysis.request.release_names import NEWEST
from podrace.base.problems import UsageProblem
from podrace.checker.core.exploration import Budget
from podrace.model.history import CHANGES, RELEASES
from podrace.model.history.versions import exact
from podrace.reports.document import Finding, Fixes, Word
from podrace.reports.step import ShownStep

BUDGET = Budget(max_memory=1 << 28)


def found(run: Run, verdict: Word) -> Finding:
    return Finding(
        run.scenario.name, exact(run.composition.release), Fixes(), run.property, verdict, 1234, 2, 3, 0.0,
        trace=() if verdict == "VIOLATED" else None,
    )  # fmt: skip


class Pretence:
    """Verdicts by label, instead of searches; `asked` are the labels that were asked for, `limits` how many states each might have."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, otherwise: Word, by_label: Mapping[str, Word] | None = None
    ) -> None:
        self.asked: list[str] = []
        self.limits: list[int | None] = []
        self._otherwise, self._by_label = otherwise, by_label or {}
        monkeypatch.setattr(closing, "bare_verdict", self._verdict_on)

    def _verdict_on(
        self, run: Run, budget: Budget, method: Method, watch: object, known: Sequence[ShownStep]
    ) -> Finding:
        self.asked.append(run.composition.label)
        self.limits.append(budget.max_states)
        assert budget.timeout is not None
        return found(run, self._by_label.get(run.composition.label, self._otherwise))


def run_of(name: str, *, release: str | None = None, without: Sequence[str] = ()) -> Run:
    """A race of the catalogue in a file of the user's own, of which nothing is known."""
    run = plan(Selection([name], release, without_fixes=without))[0]
    return replace(run, scenario=replace(run.scenario, title="A copy"))


def said(run: Run, seconds: float = 60.0) -> Sequence[str]:
    return closings([run], [found(run, "VIOLATED")], BUDGET, USUAL, seconds)[0]


def test_the_change_that_the_race_is_known_by_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    pretence = Pretence(monkeypatch, "HOLDS")
    assert said(run_of("72124")) == [
        "72259 closes it: with it, S-NOMVIS holds in all 1,234 states of the same cluster.",
        "72259: a nomination is in the scheduler's memory before it is written to the API server; in 1.14 and later; backported to 1.12.5, 1.13.2.",
        "In 1.14.0, the first release with it, the property holds, too.",
    ]
    assert pretence.asked == ["1.13.0 + 72259", "1.14.0"]
    assert pretence.limits == [None, closing.MOST_STATES]


def test_what_the_catalogue_knows_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    pretence = Pretence(monkeypatch, "HOLDS")
    assert said(plan(Selection(["72124"]))[0]) == [
        (
            "72259 closes it: with it, S-NOMVIS holds in the same cluster; "
            "`podrace check nominated-node-race --property S-NOMVIS --with-fix 72259` explores it."
        ),
        "72259: a nomination is in the scheduler's memory before it is written to the API server; in 1.14 and later; backported to 1.12.5, 1.13.2.",
    ]
    assert pretence.asked == []


def test_what_the_fix_leaves_open_is_known_to_the_catalogue_too(monkeypatch: pytest.MonkeyPatch) -> None:
    pretence = Pretence(monkeypatch, "HOLDS")
    known = {"72124": "72259, 77990 and 90660", "53647": "53647 and node-list-from-cache"}
    for race, fixes in known.items():
        prop = "S-NOM" if race == "72124" else "S-ERR"
        first, *_ = said(plan(Selection([race], properties=[prop]))[0])
        assert first.startswith(
            f"{fixes} together close it: with them, {prop} holds in the same cluster; `podrace check "
        )
    assert pretence.asked == []


@pytest.mark.parametrize(
    "selection",
    [
        Selection(["72124"], properties=["S-CAP"]),
        Selection(["72124"], "1.12.0"),
        Selection(["72124"], with_fixes=["77990"]),
    ],
)
def test_the_catalogue_knows_only_its_own_questions(
    monkeypatch: pytest.MonkeyPatch, selection: Selection
) -> None:
    pretence = Pretence(monkeypatch, "HOLDS")
    said(plan(selection)[0])
    assert pretence.asked


def test_no_release_is_looked_at_that_has_too_many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    pretence = Pretence(monkeypatch, "HOLDS")
    monkeypatch.setattr(closing, "MOST_STATES", 1233)
    assert len(said(run_of("72124"))) == 2
    assert pretence.asked == ["1.13.0 + 72259"]


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("VIOLATED", "a run still violates the property"),
        ("INCONCLUSIVE", "no violation was found within 300,000 states"),
    ],
)
def test_what_the_first_release_with_it_gives(
    monkeypatch: pytest.MonkeyPatch, verdict: Word, words: str
) -> None:
    Pretence(monkeypatch, verdict, {"1.13.0 + 72259": "HOLDS"})
    assert said(run_of("72124"))[-1] == f"In 1.14.0, the first release with it, {words}."


def test_a_change_that_was_taken_out_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    pretence = Pretence(monkeypatch, "VIOLATED", {"1.36.0": "HOLDS"})
    lines = said(run_of("72124", release="1.36.0", without=["77990"]))
    assert pretence.asked[0] == "1.36.0"
    assert lines[0] == "77990 closes it: with it, S-NOMVIS holds in all 1,234 states of the same cluster."
    assert len(lines) == 2


def test_the_release_is_found_by_halving_and_its_change_by_trying(monkeypatch: pytest.MonkeyPatch) -> None:
    still = ("1.8.0", "1.9.0", "1.12.0", "1.13.0", "1.14.0", "1.15.0", "1.16.0", "1.17.0", "1.18.0")
    holding: dict[str, Word] = {
        name: "HOLDS" for name in map(exact, (*RELEASES, NEWEST)) if name not in still
    }
    holding["1.18.0 + reserve-after-assume"] = "HOLDS"
    pretence = Pretence(monkeypatch, "VIOLATED", holding)
    lines = said(run_of("72124"))
    assert lines == [
        *(
            f"{key} does not close it by itself: a run still violates the property."
            for key in ("72259", "77990", "90660")
        ),
        "It is gone in 1.19.0, and still there in 1.18.0.",
        f"Of what 1.19.0 brought, reserve-after-assume closes it by itself: {CHANGES['reserve-after-assume'].title}.",
    ]
    assert [label for label in pretence.asked if "+" not in label] == [
        "1.37.2",
        "1.25.0",
        "1.19.0",
        "1.16.0",
        "1.18.0",
    ]


def test_what_is_still_there_in_the_newest_release(monkeypatch: pytest.MonkeyPatch) -> None:
    pretence = Pretence(monkeypatch, "VIOLATED")
    assert said(run_of("gone-victim")) == [
        "133167 does not close it by itself: a run still violates the property.",
        "It is still there in 1.37.2, the newest version.",
        "podrace found no unreleased change that closes it.",
    ]
    coming = sorted(key for key, c in CHANGES.items() if c.is_coming and not c.within and not c.is_in("1.33"))
    assert pretence.asked == ["1.33.0 + 133167", "1.37.2", *(f"1.33.0 + {key}" for key in coming)]


def test_changes_that_are_yet_to_come_may_not_be_decided_in_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock is a second later, and only a few of the changes are tried."""
    pretence = Pretence(monkeypatch, "VIOLATED")
    now = iter(range(1000))
    monkeypatch.setattr(closing, "monotonic", lambda: next(now))
    lines = said(run_of("gone-victim"), 5.0)
    assert re.fullmatch(
        r"Whether one of the [0-9]+ unreleased changes closes it was not decided in the time\. --closing TIME allows more\.",
        lines[-1],
    )
    assert pretence.asked[:2] == ["1.33.0 + 133167", "1.37.2"]


def test_a_search_that_is_not_decided_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    Pretence(monkeypatch, "INCONCLUSIVE")
    assert said(run_of("heartbeats")) == [
        (
            "Whether 70366 closes it was not decided in the time: no violation was found among 1,234 states. "
            "--closing TIME allows more."
        ),
        "Not found: 1.37.2, the newest version, was not decided in the time.",
        "podrace found no unreleased change that closes it.",
    ]


def test_when_the_time_is_over_nothing_else_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    pretence = Pretence(monkeypatch, "INCONCLUSIVE")
    now = iter(
        range(0, 1000, 4)
    )  # what closes it is asked for at 0 and 4, and the first search ends after 12
    monkeypatch.setattr(closing, "monotonic", lambda: next(now))
    (line,) = said(run_of("72124"), 10.0)
    assert line.startswith(
        "Whether 72259 closes it was not decided in the time: no violation was found among "
    )
    assert pretence.asked == ["1.13.0 + 72259"]


def test_when_the_time_is_over_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    pretence = Pretence(monkeypatch, "HOLDS")
    over, known, *fixes, coming = said(run_of("72124"), 0.0)
    assert (over, known) == (OVER, "This race is known to be fixed by:")
    assert fixes[0].startswith("72259: ")
    assert "; in 1.14 and later" in fixes[0]
    assert coming.startswith("Changes that no release has yet, not tried: 135486, ")
    assert pretence.asked == []


def test_a_property_that_does_not_fit_a_release_is_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*asked: object) -> Finding:
        raise UsageProblem("MY-RULE cannot be built")

    monkeypatch.setattr(closing, "bare_verdict", refuse)
    assert said(run_of("heartbeats")) == [
        "Not found: 1.37.2, the newest version, was not decided in the time.",
        "podrace found no unreleased change that closes it.",
    ]


def test_nothing_is_said_of_what_holds_and_of_patches(monkeypatch: pytest.MonkeyPatch) -> None:
    pretence = Pretence(monkeypatch, "HOLDS")
    run = run_of("72124")
    patched = replace(run, composition=replace(run.composition, patches=("mine",)))  # type: ignore[arg-type]
    both = [found(run, "HOLDS"), found(run, "VIOLATED")]
    assert closings([run, patched], both, BUDGET, USUAL, 60.0) == {}
    assert pretence.asked == []


def test_a_small_race_for_real() -> None:
    run = run_of("heartbeats")
    (finding,) = verdicts([run], BUDGET)
    assert closings([run], [finding], BUDGET, USUAL, 60.0)[0] == [
        "70366 closes it: with it, L-PEND holds in all 2,255 states of the same cluster.",
        "70366: a node update wakes parked pods only if something changed that they may wait for; in 1.14 and later; backported to 1.12.4, 1.13.1.",
        "In 1.14.0, the first release with it, the property holds, too.",
    ]


def test_changes_of_what_acts_in_the_violation_are_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def tried(*components: str) -> list[str]:
        pretence = Pretence(monkeypatch, "VIOLATED")
        run = run_of("gone-victim", release=NEWEST)
        steps = [ShownStep(1, "somebody", name, "go_on", {}, "", ()) for name in components]
        finding = msgspec.structs.replace(found(run, "VIOLATED"), trace=tuple(steps))
        closings([run], [finding], BUDGET, USUAL, 60.0)
        return [label.rpartition(" + ")[2] for label in pretence.asked]

    usual, sooner = tried("users"), tried("users", "async_preemption")
    assert sorted(usual) == sorted(sooner)
    assert usual.index("last-victim-gone") > 0
    assert sooner.index("last-victim-gone") < sooner.index("135486")


def test_where_the_same_steps_violate_it_nothing_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of("swapped-by-a-list", release="1.36.0")
    (finding,) = verdicts([run], BUDGET)
    assert finding.trace
    later = replace(run, composition=run_of("swapped-by-a-list", release="1.36.3").composition)
    searched = bare_verdict(later, BUDGET, USUAL)
    assert (searched.verdict, searched.states > 0) == ("VIOLATED", True)
    assert bare_verdict(later, BUDGET, USUAL, known=finding.trace[:-1]).states == searched.states
    known = bare_verdict(later, BUDGET, USUAL, known=finding.trace)
    assert (known.verdict, known.states) == ("VIOLATED", 0)
    closed = replace(run, composition=compose_for(run.scenario, "1.36.0", ["141255"], ()))
    assert bare_verdict(closed, BUDGET, USUAL, known=finding.trace).verdict == "HOLDS"
