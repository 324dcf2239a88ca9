"""Findings in one plugin or controller, as tests in Go beside its own: they fail on the sources as they are, and pass with the patch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from podrace.reproduce.modules.module import parse_version, write_module
from podrace.reproduce.modules.toolchain import Go
from podrace.reproduce.patches import MADE_FOR, GoPatch, patched_copy, replaced
from tests.reproduce.real.test_real import go_or_skip

FOLDER = Path(__file__).parent
DOCS = Path(__file__).parents[3] / "docs"
DYNAMIC_RESOURCES = "pkg/scheduler/framework/plugins/dynamicresources"
QUEUE = "pkg/scheduler/backend/queue"


@dataclass(frozen=True)
class Finding:
    """A page about a Go package of Kubernetes, its test, its patch, what the test says on the sources as they are, and what of that also with the patch."""

    page: str
    room: str
    package: str
    test: str
    patch: str
    said: tuple[str, ...]
    still: tuple[str, ...]
    version: str = MADE_FOR
    alone: bool = False
    """Without the package's own tests: it needs nothing of them, and some need modules that are not to be had."""

    @property
    def text(self) -> str:
        return (FOLDER / f"{self.test}.go.txt").read_text(encoding="utf-8")

    @property
    def names(self) -> list[str]:
        return re.findall(r"^func (Test\w+)\(", self.text, re.MULTILINE)

    def patched(self) -> GoPatch:
        title, _, diff = (FOLDER / f"{self.patch}.patch").read_text(encoding="utf-8").partition("\n\n")
        return GoPatch(self.patch, title, diff)


FINDINGS = (
    Finding(
        "device-given-away",
        "claims",
        DYNAMIC_RESOURCES,
        "device_given_away_test",
        "own-flight-ended",
        (
            "a's PreBind: claim default/c1 got deallocated elsewhere in the meantime",
            "b's allocation of c1 is in flight no longer: a's Unreserve has removed it",
            "the device is free for c",
            "both claims are allocated instance-1",
        ),
        ("a's PreBind: claim default/c1 got deallocated elsewhere in the meantime",),
    ),
    Finding(
        "reservation-taken-back",
        "claims",
        DYNAMIC_RESOURCES,
        "reservation_taken_back_test",
        "kept-while-trying",
        ("PreBind has succeeded, and c1 is reserved for nobody",),
        (),
    ),
    Finding(
        "flight-ended-unheard",
        "claims",
        DYNAMIC_RESOURCES,
        "flight_ended_unheard_test",
        "failed-binding-heard",
        ("the device is free for b, and nothing has happened that DynamicResources asked for",),
        (),
    ),
    Finding(
        "capacity-counted-twice",
        "claims",
        DYNAMIC_RESOURCES,
        "capacity_counted_twice_test",
        "shares-counted-once",
        ("q did not fit amid PreBind of p, fits now, and nothing has happened since",),
        (),
    ),
    Finding(
        "taken-for-replaced",
        "claims",
        "pkg/controller/resourceclaim",
        "taken_for_replaced_test",
        "replaced-looked-up",
        (
            "web is on its node, and c1 is reserved for nobody",
            "web is on its node, and c1 is not allocated any more",
        ),
        (),
    ),
    Finding(
        "extended-left",
        "claims",
        DYNAMIC_RESOURCES,
        "extended_left_test",
        "own-deletion-heard",
        (
            "a claim with its device, that was left, is gone: the pod fits, and stays in unschedulablePods for 5m30s",
            "a claim without a device, that was left, is gone: the pod fits, and stays in unschedulablePods for 5m30s",
            "a claim that Unreserve had deleted, is gone: the pod fits, and stays in unschedulablePods for 5m30s",
        ),
        (),
    ),
    Finding(
        "extended-told-late",
        "claims",
        DYNAMIC_RESOURCES,
        "extended_told_late_test",
        "kept-until-deleted",
        (
            "a has the device and is bound, and the device is free for b",
            "both are bound, a and b, and instance-1 is allocated to the claims of both",
        ),
        (),
    ),
    Finding(
        "volume-elsewhere",
        "volumes",
        "pkg/scheduler/framework/plugins/volumebinding",
        "volume_elsewhere_test",
        "own-volume-looked-at",
        (
            "node2 fits b, although the claim's volume is to be pv1, on node1",
            "b has nothing to bind",
            "b goes to node2, and its volume is on node1",
            "a goes to node1, and its claim is bound to a volume on node2",
        ),
        ("node2 fits b, although the claim's volume is to be pv1, on node1",),
    ),
    Finding(
        "attached-victim",
        "volumes",
        "pkg/scheduler/framework/plugins/nodevolumelimits",
        "attached_victim_test",
        "attached-counted-once",
        (
            "low is no victim, as high does not fit without it: node(s) exceed max volume count",
            "web does not fit, and its volume is on the node already: node(s) exceed max volume count",
            "low is to be evicted for web, and both have room",
        ),
        (),
    ),
    Finding(
        "extender-behind",
        "actors",
        "pkg/scheduler",
        "extender_behind_test",
        "rejected-by-extender-retried",
        ("the GPU is free, the extender knows it, and b waits for 5m30s",),
        (),
    ),
    Finding(
        "gone-member-assigned",
        "groups",
        "pkg/scheduler/backend/cache",
        "gone_member_assigned_test",
        "strangers-not-assumed",
        ("g has no pod any more, and its state has 1 pods, of which 1 are scheduled",),
        (),
        alone=True,
    ),
    Finding(
        "gang-made-again",
        "groups",
        "pkg/scheduler/framework/plugins/gangscheduling",
        "gang_made_again_test",
        "another-group-is-new",
        ("a pod that waited for a gang of three, and needs no other by now, stays parked (error <nil>)",),
        (),
        "v1.37.2",
    ),
    Finding(
        "gang-held-up",
        "groups",
        "pkg/scheduler",
        "gang_held_up_test",
        "waits-only-for-room",
        ("the gang would have room on n2 without w, and evicted are []",),
        (),
        "v1.37.2",
    ),
    Finding(
        "parked-by-the-gone",
        "groups",
        QUEUE,
        "parked_by_the_gone_test",
        "gone-gate-asked-again",
        ("b has no scheduling gate, and is parked (pods in unschedulableEntities: 1)",),
        (),
        "v1.37.2",
        alone=True,
    ),
    Finding(
        "gang-without-backoff",
        "groups",
        QUEUE,
        "no_backoff_test",
        "failures-brought-along",
        ("five bindings of a pod in a group have failed while no time has passed, and it is in activeQ",),
        (),
        "v1.37.2",
        alone=True,
    ),
    Finding(
        "pending-forgotten",
        "groups",
        QUEUE,
        "pending_forgotten_test",
        "popped-group-kept",
        ("an hour later a is pending, and not in activeQ",),
        (),
        "v1.37.2",
        alone=True,
    ),
    Finding(
        "ghost-in-tracker",
        "groups",
        "pkg/scheduler",
        "ghost_in_tracker_test",
        "forgotten-leaves-group",
        (
            "g needs two pods and has b alone, and PreEnqueue takes it for complete",
            "the cache's state of g has 2 pods, and only b is there",
        ),
        (),
        "v1.38.0-beta.0",
        alone=True,
    ),
    Finding(
        "rejected-and-counted",
        "groups",
        "pkg/scheduler",
        "rejected_and_counted_test",
        "gone-leaves-group",
        ("a is gone and was rejected, and Permit allows b to be bound alone, in a gang of two",),
        (),
        "v1.37.2",
        alone=True,
    ),
    Finding(
        "quorum-unseen",
        "groups",
        "pkg/scheduler",
        "quorum_unseen_test",
        "quorum-seen-on-events",
        ("2 pods of the gang of two have a place, and a still waits for permission",),
        (),
        "v1.37.2",
        alone=True,
    ),
    Finding(
        "split-between-domains",
        "groups",
        "pkg/scheduler",
        "split_between_domains_test",
        "binding-looked-up",
        ("the pods of g have to be in one zone, and a is bound in zone y, b in zone x",),
        (),
        "v1.38.0-beta.0",
        alone=True,
    ),
    Finding(
        "panic-at-shutdown",
        "groups",
        "pkg/scheduler",
        "panic_at_shutdown_test",
        "stopped-is-an-error",
        (
            "the scheduler is told to stop while it scores placements, and panics: runtime error: invalid memory address or nil pointer dereference",
        ),
        (),
        "v1.38.0-beta.0",
        alone=True,
    ),
    Finding(
        "unsaid-without-nodes",
        "groups",
        DYNAMIC_RESOURCES,
        "unsaid_without_nodes_test",
        "nothing-written-is-nothing",
        ("PodGroupPostFilter has nothing to deallocate, and answers Error: not found",),
        (),
        "v1.37.2",
        alone=True,
    ),
)
each = pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.page)


@each
def test_the_page_has_the_test_and_the_patch(finding: Finding) -> None:
    page = (DOCS / "findings" / f"{finding.page}.md").read_text(encoding="utf-8")
    assert f"```go\n{finding.text}```\n" in page
    assert f"```diff\n{finding.patched().diff}```\n" in page
    assert all(f"    {line}\n" in page for line in finding.said)
    rooms = [DOCS / f"{finding.room}.md", DOCS / "notebook" / f"{finding.room}.md"]
    text = "".join(room.read_text(encoding="utf-8") for room in rooms if room.is_file())
    assert f"findings/{finding.page}.md)" in text


def ran(go: Go, folder: Path, finding: Finding, *patches: GoPatch) -> tuple[int, str]:
    """Run the tests beside the plugin's own, in a copy of the version's sources."""
    version = parse_version(finding.version)
    module = write_module(version, go, folder)
    source = go.run(["list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes"], folder).strip()
    patched_copy(Path(source), folder / "kubernetes", patches)
    package = folder / "kubernetes" / finding.package
    for own in package.glob("*_test.go") if finding.alone else ():
        own.unlink()
    (package / f"{finding.test}.go").write_text(finding.text, encoding="utf-8")
    (folder / "go.mod").write_text(replaced(module.mod), encoding="utf-8")
    asked = [
        "test",
        "-vet=off",
        "-v",
        "-run",
        f"^({'|'.join(finding.names)})$",
        f"k8s.io/kubernetes/{finding.package}",
    ]
    done = go.tried(asked, folder, timeout=3600)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.real
@each
def test_it_happens_on_the_real_sources(finding: Finding, tmp_path: Path) -> None:
    code, said = ran(go_or_skip(), tmp_path, finding)
    assert code == 1, said
    assert [line for line in finding.said if line not in said] == []
    assert all(f"--- FAIL: {name} " in said for name in finding.names)


@pytest.mark.real
@each
def test_with_the_patch_it_does_not(finding: Finding, tmp_path: Path) -> None:
    code, said = ran(go_or_skip(), tmp_path, finding, finding.patched())
    assert code == 0, said
    assert [line for line in finding.said if line in said] == list(finding.still)
