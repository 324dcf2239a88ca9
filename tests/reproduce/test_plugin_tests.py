"""Findings in one plugin, as tests in Go beside the plugin's own: they fail on the sources as they are, and pass with the patch."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.reproduce.modules.module import parse_version, write_module
from podrace.reproduce.modules.toolchain import Go
from podrace.reproduce.patches import MADE_FOR, GoPatch, patched_copy, replaced
from tests.reproduce.test_real import go_or_skip

FOLDER = Path(__file__).parent / "plugin_tests"
DOCS = Path(__file__).parents[2] / "docs"
PLUGIN = "pkg/scheduler/framework/plugins/dynamicresources"
TEST = (FOLDER / "device_given_away_test.go.txt").read_text(encoding="utf-8")
PAGE = (DOCS / "device-given-away.md").read_text(encoding="utf-8")

SAID = (
    "a's PreBind: claim default/c1 got deallocated elsewhere in the meantime",
    "b's allocation of c1 is in flight no longer: a's Unreserve has removed it",
    "the device is free for c",
    "both claims are allocated instance-1",
)


def patch() -> GoPatch:
    title, _, diff = (FOLDER / "own-flight-ended.patch").read_text(encoding="utf-8").partition("\n\n")
    return GoPatch("own-flight-ended", title, diff)


def test_the_page_has_the_test_and_the_patch() -> None:
    assert f"```go\n{TEST}```\n" in PAGE
    assert f"```diff\n{patch().diff}```\n" in PAGE
    assert all(f"    {line}\n" in PAGE for line in SAID)
    assert "(device-given-away.md)" in (DOCS / "claims.md").read_text(encoding="utf-8")


def ran(go: Go, folder: Path, *patches: GoPatch) -> tuple[int, str]:
    """Run the test beside the plugin's own, in a copy of the version's sources."""
    version = parse_version(MADE_FOR)
    module = write_module(version, go, folder)
    source = go.run(["list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes"], folder).strip()
    patched_copy(Path(source), folder / "kubernetes", patches)
    (folder / "kubernetes" / PLUGIN / "device_given_away_test.go").write_text(TEST, encoding="utf-8")
    (folder / "go.mod").write_text(replaced(module.mod), encoding="utf-8")
    asked = ["test", "-v", "-run", "^TestDeviceGivenAway$", f"k8s.io/kubernetes/{PLUGIN}"]
    done = go.tried(asked, folder, timeout=3600)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.real
def test_a_device_is_given_to_two_claims(tmp_path: Path) -> None:
    code, said = ran(go_or_skip(), tmp_path)
    assert code == 1, said
    assert [line for line in SAID if line not in said] == []


@pytest.mark.real
def test_with_the_patch_it_is_not(tmp_path: Path) -> None:
    code, said = ran(go_or_skip(), tmp_path, patch())
    assert code == 0, said
    assert SAID[0] in said
    assert not any(line in said for line in SAID[1:])
