"""SARIF: valid by the standard's schema, with code flows that a code scanning service can show."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.reports.ci_outcome import USUAL, Style
from podrace.reports.document import Finding, Place
from podrace.reports.formats.sarif import to_sarif
from tests.profiles import examples
from tests.reports.findings import findings
from tests.reports.golden import assert_golden
from tests.reports.samples import ALL, HOLDS, INCONCLUSIVE, STARVED, VACUOUS, VIOLATED
from tests.reports.standards import assert_sarif

PLACE = Place("my scenarios/a.yaml", 4, {"p": 9, "n1": 7})
FAILED = msgspec.structs.replace(VIOLATED, expected=None, place=PLACE)


def run_of(text: str) -> Any:
    (run,) = json.loads(text)["runs"]
    return run


def test_every_verdict() -> None:
    text = to_sarif([FAILED, *ALL[1:]], Style(version="0.1"))
    assert_golden("all.sarif", text)
    assert_sarif(text)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(findings(), max_size=4))
def test_anything_is_valid(found: list[Finding]) -> None:
    run = assert_sarif(to_sarif(found))["runs"][0]
    told = [result["ruleId"] for result in run["results"] if result["kind"] == "open"]
    assert told == [finding.property for finding in found if finding.verdict == "INCONCLUSIVE"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_nothing_found_is_valid() -> None:
    assert assert_sarif(to_sarif([]))["runs"][0]["results"] == []


def test_a_code_flow_has_a_location_for_each_step() -> None:
    (result,) = run_of(to_sarif([FAILED]))["results"]
    (flow,) = result["codeFlows"]
    (thread,) = flow["threadFlows"]
    locations = thread["locations"]
    assert [location["executionOrder"] for location in locations] == [1, 2, 3, 4]
    lines = [at["location"]["physicalLocation"]["region"]["startLine"] for at in locations]
    assert lines == [9, 9, 4, 4]  # p stands in line 9; of q nothing is known
    text = locations[0]["location"]["message"]["text"]
    assert text == "scheduler: pop(p) (NextPod: take the head of activeQ); queue: p leaves activeQ."
    assert locations[0]["state"]["queue.sub_queue[p]"] == {"text": '"NONE"'}


def test_places_are_relative_links_or_absolute_ones() -> None:
    (result,) = run_of(to_sarif([FAILED]))["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "my%20scenarios/a.yaml", "uriBaseId": "%SRCROOT%"}
    elsewhere = msgspec.structs.replace(FAILED, place=Place("/tmp/a b.yaml"))
    (result,) = run_of(to_sarif([elsewhere]))["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "file:///tmp/a%20b.yaml"}


def test_what_is_undecided_is_open_and_makes_the_run_unsuccessful() -> None:
    run = run_of(to_sarif([HOLDS, INCONCLUSIVE]))
    (result,) = run["results"]
    assert (result["kind"], result["level"]) == ("open", "none")
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [n["level"] for n in invocation["toolExecutionNotifications"]] == ["error"]
    assert run_of(to_sarif([HOLDS]))["invocations"][0]["executionSuccessful"] is True


def test_levels() -> None:
    def levels(finding: Finding, style: Style = USUAL) -> list[tuple[str, str]]:
        return [(r["kind"], r["level"]) for r in run_of(to_sarif([finding], style))["results"]]

    assert levels(FAILED) == [("fail", "error")]
    assert levels(VIOLATED) == [("fail", "note")]  # it was expected
    assert levels(HOLDS) == levels(VACUOUS) == []
    assert levels(VACUOUS, Style(vacuous_fails=True)) == [("fail", "error")]
    assert levels(msgspec.structs.replace(HOLDS, expected="VIOLATED")) == [("fail", "error")]


def test_rules_are_the_properties_with_help_and_links() -> None:
    rules = run_of(to_sarif([FAILED, HOLDS, STARVED]))["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["S-NOM", "L-PEND"]
    assert rules[0]["helpUri"] == "https://github.com/kubernetes/kubernetes/issues/72124"
    assert "`podrace properties S-NOM` says more." in rules[0]["help"]["markdown"]
    assert "helpUri" not in rules[1]


def test_a_finding_keeps_its_identity_while_its_details_change() -> None:
    def identity(finding: Finding) -> str:
        (result,) = run_of(to_sarif([finding]))["results"]
        return str(result["partialFingerprints"]["finding/v1"])

    assert identity(FAILED) == identity(msgspec.structs.replace(FAILED, states=1, words="x", place=None))
    assert identity(FAILED) != identity(msgspec.structs.replace(FAILED, property="S-NOMVIS"))
