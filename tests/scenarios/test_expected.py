"""The sections `expect` and `ignore` of a scenario."""

from __future__ import annotations

import pytest

from podrace.base.problems import Problem
from podrace.scenarios import Expectation, parse_scenario

BASE = "nodes: {n: {cpu: 1}}\npods: {p: {cpu: 1}}\n"


def test_verdicts_by_property() -> None:
    scenario = parse_scenario(BASE + "expect:\n  S-CAP: holds\n  S-NOM: {verdict: violated, steps: 18}\n")
    assert scenario.expect == (
        Expectation("S-CAP", "holds", "expect.S-CAP"),
        Expectation("S-NOM", "violated", "expect.S-NOM", steps=18),
    )
    assert scenario.lines["expect.S-NOM"] == 5


def test_verdicts_by_release() -> None:
    scenario = parse_scenario(
        BASE + "expect:\n- release: 1.10.0\n  with_fixes: [72259, framework]\n  verdicts: {S-CAP: holds}\n"
        "- {without_fixes: [77990], verdicts: {S-CAP: violated}}\n"
    )
    assert scenario.expect == (
        Expectation(
            "S-CAP", "holds", "expect[0].verdicts.S-CAP", release="1.10.0", with_fixes=("72259", "framework")
        ),
        Expectation("S-CAP", "violated", "expect[1].verdicts.S-CAP", without_fixes=("77990",)),
    )


def test_verdicts_may_be_written_as_reports_write_them() -> None:
    scenario = parse_scenario(BASE + "expect: {S-CAP: HOLDS, S-NOM: {verdict: VIOLATED, steps: 3}}\n")
    assert [(e.verdict, e.steps) for e in scenario.expect] == [("holds", None), ("violated", 3)]


def test_reasons() -> None:
    scenario = parse_scenario(BASE + "ignore: {S-NOM: later}\n")
    assert scenario.ignore == {"S-NOM": "later"}
    assert parse_scenario(BASE).ignore == {}


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("expect: 5", "expect: expected a mapping from properties to verdicts, not `5`"),
        ("expect: {}", "expect: nothing is expected: give a verdict for a property, or remove the section"),
        ("ask: []", "ask: nothing is asked: give a question and its answer, or remove the section"),
        ("expect: []", "expect: nothing is expected: give a verdict for a property, or remove the section"),
        ("expect: [5]", "expect[0]: expected a mapping with `verdicts`, not `5`"),
        (
            "expect: [{release: x}]",
            "expect[0]: `verdicts` is missing: say which verdict is expected of which property",
        ),
        (
            "expect: {S-CAP: hold}",
            "expect.S-CAP: there is no such verdict: `hold`; did you mean `holds`? (known: holds, violated)",
        ),
        ("expect: {S-CAP: {steps: 1}}", "expect.S-CAP: `verdict` is missing: write holds or violated"),
        (
            "expect: {S-CAP: {verdict: holds, steps: 1}}",
            "expect.S-CAP.steps: what holds has no counterexample: remove `steps`",
        ),
        (
            "expect: {S-CAP: {verdict: violated, steps: -1}}",
            "expect.S-CAP.steps: expected a whole number from 0 to 100000, not `-1`",
        ),
        (
            "ignore: {S-CAP: ''}",
            "ignore.S-CAP: expected the reason, as one line of at most 200 printable characters",
        ),
        ("ignore: {S-CAP: [x]}", "ignore.S-CAP: expected the reason, as one line of text, not a list"),
        ("ignore: [S-CAP]", "ignore: expected a mapping from properties to reasons, not a list"),
    ],
)
def test_mistakes(section: str, message: str) -> None:
    with pytest.raises(Problem) as caught:
        parse_scenario(BASE + section, "s.yaml")
    assert str(caught.value) == f"s.yaml:3: {message}"
