"""Races of volumes that no change of the model's releases mends, and what proposed patches make of them: exact counts (docs/volumes.md)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from podrace.base.problems import Problem
from podrace.checker.search import check
from podrace.model.history import CHANGES, resolve
from podrace.model.language import Component, Expr, all_of, as_expr
from podrace.model.scheduler import Plugin
from podrace.properties import PROPERTIES, instrument
from podrace.properties.storage.volumes import AboutVolumes
from podrace.scenarios import find_scenarios, parse_scenario
from tests.races.hazard_patches import AlwaysActivated
from tests.races.volume_patches import (
    AttachedAtOnce,
    BoundAsFiltered,
    GhostsUncounted,
    OthersAssumptionsKept,
    OwnVolumeChecked,
    OwnVolumeOnce,
    VictimsVolumesLeave,
)

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "scenarios" / "volumes"
PAGE = (ROOT / "docs" / "volumes.md").read_text(encoding="utf-8")
V, H = "VIOLATED", "HOLDS"
LARGE = 1_000_000

Patches = tuple[type[Component], ...]

BEFORE_127757 = CHANGES["127757"].classes

ROWS: list[tuple[str, str, str, Patches, str, int, int | None]] = [
    ("claim-told-early", "L-VOL", "1.34", (), V, 1086, 17),
    ("claim-told-early", "L-VOL", "1.34.4", (), V, 1086, 17),
    ("claim-told-early", "L-VOL", "1.35", (), H, 1146, None),
    ("claim-told-early", "L-VOL", "1.36.3", (), H, 1040, None),
    ("bound-between", "S-VOL", "1.34.4", (), V, 8177, 27),
    ("bound-between", "S-VOL", "1.35.4", (), V, 11281, 28),
    ("bound-between", "S-VOL", "1.36.3", (), V, 10712, 28),
    ("bound-between", "S-VOL", "1.36.3", (BoundAsFiltered,), V, 55441, 37),
    ("bound-between", "S-VOL", "1.36.3", (BoundAsFiltered, OwnVolumeChecked), H, 6221102, None),
    ("bound-between", "S-PV", "1.36.3", (), H, 5768399, None),
    ("bound-after-restore", "S-VOL", "1.34.4", (), V, 193828, 48),
    ("bound-after-restore", "S-VOL", "1.36.3", (), V, 2040740, 51),
    ("made-and-found", "S-PLACED", "1.34.4", (), V, 24144, 32),
    ("made-and-found", "S-PLACED", "1.35.4", (), V, 48959, 34),
    ("made-and-found", "S-PLACED", "1.36.3", (), V, 44752, 34),
    ("reverted-by-sibling", "S-HELD", "1.34.4", (), V, 823, 22),
    ("reverted-by-sibling", "S-HELD", "1.35.4", (), V, 890, 22),
    ("reverted-by-sibling", "S-HELD", "1.36.3", (), V, 869, 22),
    ("forgotten-by-restore", "S-WRITTEN", "1.34.4", (), V, 811, 22),
    ("forgotten-by-restore", "S-WRITTEN", "1.35.4", (), V, 1544, 24),
    ("forgotten-by-restore", "S-WRITTEN", "1.36.3", (), V, 1443, 24),
    ("forgotten-by-restore", "S-WRITTEN", "1.36.3", (OthersAssumptionsKept,), H, 7282642, None),
    ("uncounted-user", "S-RWOP", "1.36.4", (), H, 5998, None),
    ("uncounted-user", "S-RWOP", "1.37", (), V, 5318, 26),
    ("uncounted-user", "S-RWOP", "1.37", (GhostsUncounted,), H, 5998, None),
    ("exclusive", "S-RWOP", "1.36.3", (), H, 9716782, None),
    ("exclusive", "L-VOL", "1.36.3", (), V, 56084, 62),
    ("exclusive", "S-STUCK", "1.34.4", (), V, 272816, 74),
    ("exclusive", "S-STUCK", "1.35.4", (), V, 67944, 63),
    ("exclusive", "S-STUCK", "1.36.3", (), V, 56084, 62),
    ("exclusive", "S-STUCK", "1.36.3", (AlwaysActivated,), H, 17723638, None),
    ("limit-told-late", "S-LIMIT", "1.36.3", (), V, 3301, 22),
    ("limit-told-late", "S-LIMIT", "1.37.2", (), H, 15978, None),
    ("limit-told-late", "L-VOL", "1.37.2", (), H, 15978, None),
    ("still-attached", "S-LIMIT", "1.36.3", (), H, 1595, None),
    ("still-attached", "S-LIMIT", "1.36.3", BEFORE_127757, V, 504, 15),
    ("still-attached", "L-VOL", "1.36.3", (), H, 1595, None),
    ("attached-unseen", "S-LIMIT", "1.36.3", (), V, 8307, 29),
    ("attached-unseen", "S-LIMIT", "1.37.2", (), V, 8307, 29),
    ("attached-unseen", "S-LIMIT", "1.36.3", (AttachedAtOnce,), H, 35945, None),
    ("attached-victim", "L-INV", "1.36.3", (), V, 15, 13),
    ("attached-victim", "L-INV", "1.37.2", (), V, 15, 13),
    ("attached-victim", "L-INV", "1.36.3", BEFORE_127757, H, 2166, None),
    ("attached-victim", "L-INV", "1.36.3", (VictimsVolumesLeave,), H, 7778, None),
    ("attached-victim", "S-LIMIT", "1.36.3", (VictimsVolumesLeave,), H, 7778, None),
    ("own-volume-twice", "L-VOL", "1.36.3", (), V, 33919, 40),
    ("own-volume-twice", "L-VOL", "1.37.2", (), V, 37724, 40),
    ("own-volume-twice", "L-VOL", "1.36.3", (OwnVolumeOnce,), H, 1595, None),
    ("own-volume-twice", "L-VOL", "1.36.3", (VictimsVolumesLeave, OwnVolumeOnce), H, 1595, None),
    ("own-volume-twice", "L-VOL", "1.36.3", BEFORE_127757, H, 1322, None),
    ("own-volume-twice", "L-VOL", "1.36.3", (AlwaysActivated,), H, 1002781, None),
    ("limit-raised", "L-VOL", "1.32.13", (), V, 79, 15),
    ("limit-raised", "L-VOL", "1.36.3", (), H, 251, None),
]
EXHAUSTIVE: list[tuple[str, str, str, Patches, str, int, int | None]] = [
    ("reverted-by-sibling", "S-HELD", "1.36.3", (OthersAssumptionsKept,), H, 132083386, None)
]
"""Found once to the end, in minutes; not run again."""


AT_NIGHT = 5_000_000
"""Searches to the end of more states are left to `make nightly`, but for two."""
IN_CI = (("bound-between", "S-VOL"), ("exclusive", "S-RWOP"))


def priced(row: tuple[Any, ...]) -> Any:
    is_for_night = row[5] > AT_NIGHT and row[:2] not in IN_CI
    return pytest.param(
        *row,
        marks=[pytest.mark.nightly] if is_for_night else [pytest.mark.ci] if row[5] > LARGE else [],
    )


@pytest.mark.parametrize(
    ("name", "identifier", "release", "patches", "verdict", "states", "steps"), [priced(row) for row in ROWS]
)
def test_verdict_and_counts(
    name: str, identifier: str, release: str, patches: Patches, verdict: str, states: int, steps: int | None
) -> None:
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    classes = (*patches, *resolve(release).classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES[identifier]]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous


@pytest.mark.parametrize(
    ("patches", "verdict", "states", "steps"),
    [((), V, 85256, 48), ((BoundAsFiltered,), H, 162176, None), ((OthersAssumptionsKept,), H, 143510, None)],
)
def test_bound_after_restore_where_bindings_nominate_nobody(
    patches: Patches, verdict: str, states: int, steps: int | None
) -> None:
    """On 1.36.3 without NominatedNodeNameForExpectation, which makes far fewer states."""
    (scenario,) = find_scenarios(str(FOLDER / "bound-after-restore.yaml"))
    classes = (*patches, *resolve("1.36.3", gates={"NominatedNodeNameForExpectation": False}).classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["S-VOL"]]), ["S-VOL"])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert f"{states:,} states" in PAGE
    assert not found.vacuous


def test_every_scenario_is_tested_and_explained() -> None:
    names = {path.stem for path in FOLDER.glob("*.yaml")}
    assert names == {row[0] for row in ROWS}
    told = [
        n for n in sorted(names) if f"scenarios/volumes/{n}.yaml" not in PAGE and f"| `{n}` |" not in PAGE
    ]
    assert told == []


def test_the_page_says_what_the_rows_say() -> None:
    for name, identifier, release, patches, verdict, states, _ in ROWS:
        if release == "1.36.3" and not patches and name != "claim-told-early" and identifier != "S-PV":
            word = verdict.lower()
            assert re.search(rf"^\| `{name}` \| .*\b{word}\b.* {states:,} states", PAGE, re.MULTILINE), (
                name,
                identifier,
            )
    for name, _, _, patches, verdict, states, _ in [*ROWS, *EXHAUSTIVE]:
        if patches and verdict == H:
            assert re.search(rf"^\| `{name}` \| .* {states:,} states", PAGE, re.MULTILINE), name


LIMITED = """\
name: limited
nodes: {n1: {cpu: 2}, n2: {cpu: 2}}
csiDrivers: {ebs: {nodes: {n1: 1}}}
storageClasses: {csi: {csiDriver: ebs}}
volumes: {pv1: {storageClassName: csi, claimRef: c1}}
volumeClaims: {c1: {storageClassName: csi, volumeName: pv1}}
pods: {p: {cpu: 1, volumes: [c1]}}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{n1: 1}", "{n3: 1}", "there is no node `n3`; known: n1, n2"),
        ("{n1: 1}", "{n1: [2, 1]}", "a limit that shrinks is not modelled (A-CSI): give the smaller one first"),
        ("nodes: {n1: {", "scope: {node_creations: 1}\nnodes: {n1: {exists: false, ", "n1 does not exist at first, so ebs starts there later: give it [none, 1]"),
        ("{n1: 1}", "{n1: [none]}", "two limits, the first and the last, such as [none, 1]"),
        ("{n1: 1}", "{}", "there is no node: say how many volumes nodes take, such as {n1: 1}"),
        ("{nodes: {n1: 1}}", "{}", "`nodes` is missing: say how many volumes nodes take, such as {n1: 1}"),
        ("csiDriver: ebs", "csiDriver: pd", "there is no CSI driver `pd`; known: ebs"),
        ("{csiDriver: ebs}", "{}", "no claim is for volumes of ebs: name it as `csiDriver` of a class, or remove it"),
        ("claimRef: c1", "claimRef: c1, attachedTo: n2", "pv1 is attached to n2, which has no limit for it: remove `attachedTo`"),
        ("pods:", "scope: {node_deletions: 1}\npods:", "what becomes of the limits and attachments of nodes that are deleted is not modelled (A-CSI)"),
    ],
)  # fmt: skip
def test_what_the_reader_refuses_of_limits(old: str, new: str, message: str) -> None:
    with pytest.raises(Problem, match=re.escape(message)):
        parse_scenario(LIMITED.replace(old, new))


@pytest.mark.parametrize(
    ("wanted", "limit", "attached", "expected"),
    [(1, 1, "", H), (2, 2, "", H), (2, 1, "", V), (1, 1, "n1", V)],
)
def test_how_many_volumes_fit(wanted: int, limit: int, attached: str, expected: str) -> None:
    """Whether a pod with so many volumes can be bound to the only node; a volume that is attached for another pod takes a place until it is detached."""
    text = LIMITED.replace(", n2: {cpu: 2}", "").replace("n1: 1", f"n1: {limit}")
    if wanted == 2:
        text = text.replace("claimRef: c1}}", "claimRef: c1}, pv2: {storageClassName: csi, claimRef: c2}}")
        text = text.replace(
            "volumeName: pv1}}", "volumeName: pv1}, c2: {storageClassName: csi, volumeName: pv2}}"
        )
        text = text.replace("[c1]", "[c1, c2]")
    if attached:
        text = text.replace("claimRef: c1}", "claimRef: c1}, old: {storageClassName: csi, attachedTo: n1}")
    spec = parse_scenario(text + "scope: {flush: false, backoff: false}\n").spec
    system = instrument(spec, resolve("1.36.3").classes, [NeverRejected])
    (found,) = check(system, ["X-REJECTED"])
    assert found.verdict.name == expected


@pytest.mark.parametrize(
    ("patches", "verdict", "states", "steps"),
    [
        ((), V, 1143, 21),
        ((AlwaysActivated,), V, 1143, 21),
        ((VictimsVolumesLeave,), V, 1138, 21),
        ((OwnVolumeOnce,), H, 1595, None),
        ((VictimsVolumesLeave, OwnVolumeOnce), H, 1595, None),
        (BEFORE_127757, H, 1322, None),
    ],
)
def test_a_pod_is_evicted_for_one_whose_volume_counts_twice(
    patches: Patches, verdict: str, states: int, steps: int | None
) -> None:
    """Both volumes of own-volume-twice have a place. To count victims' volumes no more makes it no better."""
    (scenario,) = find_scenarios(str(FOLDER / "own-volume-twice.yaml"))
    (found,) = check(
        instrument(scenario.spec, (*patches, *resolve("1.36.3").classes), [NobodyEvicted]), ["X-EVICTED"]
    )
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)


class NobodyEvicted(AboutVolumes):
    """No pod that was there at the start is being deleted, or gone."""

    id = "X-EVICTED"

    def holds(self) -> Expr:
        there = (self.api.pod[p] for p in self.pods if p.exists)
        return all_of(pod.exists & ~as_expr(pod.terminating) for pod in there)


class NeverRejected(AboutVolumes):
    """NodeVolumeLimits rejects no pod."""

    id = "X-REJECTED"

    def holds(self) -> Expr:
        (plugin,) = (p for p in self.universe[Plugin] if p.name == "NodeVolumeLimits")
        return ~as_expr(self.scheduler.rejected_by[plugin])


def test_a_pod_whose_volumes_are_there_makes_nothing_worse() -> None:
    """At the start the node has one volume too many; the pod shares one of them, and NodeVolumeLimits lets it pass."""
    full = LIMITED.replace("volumes: {", "volumes: {pv2: {storageClassName: csi, attachedTo: n1}, ", 1)
    shared = full.replace("pods: {", "pods: {q: {cpu: 1, nodeName: n1, volumes: [c1]}, ")
    scenario = parse_scenario(shared, "limited.yaml")
    found = check(instrument(scenario.spec, resolve("1.36.3").classes, [PROPERTIES["S-LIMIT"]]), ["S-LIMIT"])
    assert [f.verdict.name for f in found] == [H]
