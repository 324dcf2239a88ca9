"""What a verdict says where a property claims less of a node that changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.analysis.findings import finding_of
from podrace.analysis.request.plan import Run, Selection, plan
from podrace.analysis.systems import system_of
from podrace.checker.search import check

CLUSTER = """
name: resized
release: "1.36.0"
nodes:
  n1: {cpu: 1, updates: {larger: {cpu: 2}}}
  n2: {cpu: 1, labels: {zone: east}, updates: {west: {labels: {zone: west}}}}
  n3: {cpu: 1}
pods:
  p: {cpu: 1, nodeName: n3}
"""


def asked(text: str, identifier: str, folder: Path) -> Run:
    """What a command line that names this scenario and this property asks."""
    file = folder / "resized.yaml"
    file.write_text(text)
    (run,) = plan(Selection(names=(str(file),), properties=(identifier,)))
    return run


@pytest.mark.parametrize(
    ("identifier", "note"),
    [
        ("S-CAP", "S-CAP: of what n1 can allocate, the largest of its versions counts"),
        ("S-NOM", "S-NOM: of what n1 can allocate, the largest of its versions counts"),
        ("S-AFF", "S-AFF: of n2, only domains count that it is in with all of its versions"),
        ("S-STUCK", None),
    ],
)
def test_a_verdict_names_the_nodes_of_which_it_claims_less(
    identifier: str, note: str | None, tmp_path: Path
) -> None:
    run = asked(CLUSTER, identifier, tmp_path)
    system = system_of(run)
    (result,) = check(system, [identifier])
    said = [text for text in finding_of(run, system, result).notes if text.startswith(f"{identifier}: ")]
    assert said == ([] if note is None else [note])


def test_nothing_is_said_of_nodes_that_stay(tmp_path: Path) -> None:
    run = asked(CLUSTER.replace("{cpu: 1, updates: {larger: {cpu: 2}}}", "{cpu: 1}"), "S-CAP", tmp_path)
    assert run.prop.caveat(run.scenario.spec.nodes) == ""
