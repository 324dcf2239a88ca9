"""What a scenario asks for and what never takes a step is told in every form, and HOLDS is marked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.helpers import TINY, Shell

IDLE = """\
name: idle-parts
release: "1.36.0"
properties: [S-CAP]
nodes: {n: {cpu: 1}}
pods:
  a: {cpu: 1, nodeName: n}
  b: {cpu: 1, exists: false}
controllers: {web: {kind: ReplicaSet, pods: [a, b]}}
scope: {pod_events: 1, node_events: 1, flush: false, backoff: false, node_creations: 1, pod_deletions: 1}
"""
CREATIONS = "users.create_node(node=n) waits in vain for not api.node_exists[n]"
SENTENCE = f"Asked for, and never acted: node creations ({CREATIONS})."
COUNT = (
    "never acted: 1 of 1 verdict: something that the scenario asks for never took a step; "
    "with --fail-on-vacuous, the exit code is 1"
)
MARK = "HOLDS (1 never acted)"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "idle-parts.yaml"
    path.write_text(IDLE)
    return str(path)


def joined(text: str) -> str:
    return " ".join(text.split())


def test_the_text_names_what_never_acted(shell: Shell, file: str) -> None:
    ran = shell("check", file)
    assert ran.code == 0
    assert SENTENCE in joined(ran.out)
    assert COUNT in joined(ran.out)
    assert f"S-CAP {MARK}" in joined(ran.out)
    assert shell("check", file, "--fail-on-vacuous").code == 1


@pytest.mark.parametrize("form", ["junit", "sarif", "github"])
def test_forms_for_machines_have_the_sentence(shell: Shell, file: str, form: str) -> None:
    assert "Asked for, and never acted: node creations" in shell("check", file, "-o", form).out


def test_markdown_and_the_page_mark_it(shell: Shell, file: str) -> None:
    said = shell("check", file, "-o", "markdown").out
    assert f"| ⚠️ | idle-parts | 1.36.0 | S-CAP | {MARK} |" in said
    assert f"> {COUNT}" in said
    page = shell("check", file, "-o", "html").out
    assert f'<span class="badge vacuous">{MARK}</span>' in page
    assert "1 property was checked: 1 holding; in 1 something that was asked for never acted." in page


def test_json_has_the_reasons_also_when_the_verdict_was_kept(shell: Shell, file: str) -> None:
    for _ in range(2):
        (row,) = json.loads(shell("check", file, "-o", "json").out)
        assert row["never_acted"] == {"node creations": CREATIONS}


def test_of_ranges_what_acted_in_no_cluster(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "range.yaml"
    file.write_text(
        """\
name: ranges
release: "1.36.0"
properties: [S-CAP]
nodes: {n: {cpu: 1..2}}
pods: {a: {cpu: 1}}
scope: {pod_events: 1, node_events: 1, flush: false, backoff: false, node_creations: 1}
"""
    )
    (row,) = json.loads(shell("check", str(file), "-o", "json").out)
    assert row["never_acted"] == {"node creations": "in no cluster ran users.create_node"}


BUDGET = """\
podDisruptionBudgets:
  g: {disruptionsAllowed: 1, selector: {matchLabels: {app: none}}}
"""


@pytest.mark.parametrize("first", [TINY, TINY + BUDGET])
def test_a_kept_verdict_says_what_never_acted_in_its_own_cluster(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, first: str
) -> None:
    """The two clusters have equal systems: nothing in a system comes of a budget that selects no pod."""
    monkeypatch.chdir(tmp_path)
    for number, text in enumerate((first, TINY, TINY + BUDGET)):
        Path(f"{number}.yaml").write_text(text)
    check = ("check", "--cache", "kept", "--fail-on-vacuous", "-o", "json")
    shell(*check, "0.yaml")
    rows = [json.loads(shell(*check, file).out)[0] for file in ("1.yaml", "2.yaml")]
    assert [list(row.get("never_acted", {})) for row in rows] == [[], ["budget g, which selects no pod"]]
