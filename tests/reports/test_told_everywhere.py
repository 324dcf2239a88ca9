"""Every command tells a race as `check` does, and every form says what is to be known of a verdict."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace
from rich.console import Console

from podrace.reports.answers.proof_report import Proof, ViolatingGroup, print_proof
from podrace.reports.ci_outcome import Style
from podrace.reports.document import ABOUT, FROM_CACHE, Fixes, Word
from podrace.reports.formats.github import to_annotations
from podrace.reports.formats.junit import to_junit
from podrace.reports.formats.sarif import to_sarif
from podrace.reports.text.findings_text import print_expectations, print_report
from podrace.reports.text.story_text import print_counterexample
from podrace.reports.verify.comparison import Comparison, Net, Pair
from podrace.reports.verify.comparison_text import print_comparison
from tests.reports.samples import HOLDS, INCONCLUSIVE, VACUOUS
from tests.reports.shown import SHOWN
from tests.reports.standards import assert_junit, assert_sarif

VERDICT: Word = "VIOLATED"
OF_SHOWN = ("late", "1.13", Fixes(), "S-CAP", VERDICT)


def printed(print_it: Callable[[Console], None]) -> str:
    written = io.StringIO()
    print_it(Console(file=written, width=100, no_color=True, highlight=False, markup=False, emoji=False))
    return written.getvalue()


def verify(console: Console, whole: bool) -> None:
    before = replace(SHOWN, verdict="HOLDS", trace=None)
    pair = Pair("REGRESSED", before, SHOWN)
    print_comparison(console, Comparison("1.13", "1.13 + mine", (pair,)), whole)


def net(console: Console, whole: bool) -> None:
    nets = (Net("late", "S-CAP", "REGRESSED", after=SHOWN),)
    print_comparison(console, Comparison("1.13", "1.13 + mine", (), nets=nets), whole)


def prove(console: Console, whole: bool) -> None:
    group = ViolatingGroup(1, "p asks for 2", 3, "name: one", SHOWN)
    proof = Proof(
        "S-CAP", "1.13", "VIOLATED", 2, 2, 1, 7, 9, 3, 1, 0, 0.0, "all", (), (group,)
    )  # fmt: skip
    print_proof(console, proof, whole)


COMMANDS = [verify, net, prove]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_words_are_those_of_check(command: Callable[[Console, bool], None]) -> None:
    story = printed(lambda console: print_counterexample(console, SHOWN))
    middle = story[story.index("  The cluster: ") : story.index("  How it ends")]
    told = printed(lambda console: command(console, False))
    assert middle in told
    for heading in (
        "What happens",
        "How it ends",
        "Where the views disagreed",
        "What would have prevented it",
    ):
        assert f"\n  {heading}\n" in told
    assert "│" not in told


@pytest.mark.parametrize("command", COMMANDS)
def test_lanes_are_there_when_asked_for(command: Callable[[Console, bool], None]) -> None:
    told = printed(lambda console: command(console, True))
    assert "\n  What happens\n" in told
    assert "│  2  │  take(p)" in told


def test_what_closes_it_may_be_a_part_of_the_finding() -> None:
    found = replace(SHOWN, closing=("7 closes it.",))
    assert (
        printed(lambda console: print_report(console, [found])).count("  What closes it\n    7 closes it.\n")
        == 1
    )


NOTED = replace(HOLDS, expected="HOLDS", notes=("a part was left out", FROM_CACHE))
EMPTY = replace(
    VACUOUS, expected="HOLDS", notes=("S-NOM was not tested: no rival",), witnesses_missed=("q waits",)
)


def test_the_text_of_expectations_has_the_notes() -> None:
    files = ["a.yaml"] * 2
    told = printed(lambda console: print_expectations(console, files, [NOTED, EMPTY], Style()))
    lines = told.splitlines()
    assert "       note: a part was left out" in lines
    assert "       note: S-NOM was not tested: no rival" in lines
    assert FROM_CACHE not in told


def test_annotations_have_the_notes_and_say_what_was_never_reached() -> None:
    told = to_annotations([EMPTY, replace(INCONCLUSIVE, notes=("to go on: more",))])
    vacuous, undecided, _ = told.splitlines()
    assert vacuous.startswith("::notice title=")
    assert vacuous.endswith("%0Avacuous: never reached: q waits%0Anote: S-NOM was not tested: no rival")
    assert undecided.endswith("%0Anote: to go on: more")


LINES = ("cluster: 3 nodes", "note: NodeNotReady is left out")


def test_the_account_of_a_cluster_is_in_the_forms_of_ci() -> None:
    found = [replace(HOLDS, about=LINES), replace(SHOWN, about=LINES)]
    account = to_annotations(found).splitlines()[-2]
    assert account == f"::notice title={ABOUT.replace(',', '%2C')}::{'%0A'.join(LINES)}"
    junit = to_junit(found)
    assert_junit(junit)
    for suite in ElementTree.fromstring(junit.partition("\n")[2]):
        assert [(p.get("name"), p.get("value")) for p in suite.iter("property")] == [
            (ABOUT, line) for line in LINES
        ]
    (run,) = assert_sarif(to_sarif(found))["runs"]
    notes = [
        n["message"]["text"]
        for n in run["invocations"][0]["toolExecutionNotifications"]
        if n["level"] == "note"
    ]
    assert notes == [f"{ABOUT}: {line}" for line in LINES]
    assert json.dumps(LINES[0]) not in to_annotations([HOLDS])
