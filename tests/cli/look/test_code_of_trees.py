"""A kubernetes checkout where a version of the real code is taken: what is recognised, what is refused, and what the verdict says. Go builds nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from podrace.base.problems import UsageProblem
from podrace.cli.configuration.option_rows import code_names
from podrace.reproduce.modules import trees
from podrace.reproduce.modules.trees import version_named
from tests.cli.helpers import Shell, flat
from tests.reproduce.conftest import ghost, go
from tests.reproduce.real.test_real import go_or_skip
from tests.upstream_trees import tree_of

__all__ = ["ghost", "go"]

REPRODUCED, USAGE, OTHERWISE = 1, 2, 3
TEXT = "package scheduler\n\nfunc (sched *Scheduler) ScheduleOne() {\n\tsched.mine()\n}\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout that is none of a version that is known."""
    found = tmp_path / "checkout"
    (found / "pkg" / "scheduler").mkdir(parents=True)
    (found / "go.mod").touch()
    (found / "pkg" / "scheduler" / "scheduler.go").write_text(TEXT)
    return found


COMMANDS: dict[str, list[tuple[str, ...]]] = {
    "--kubernetes": [("reproduce", "ghost", "--run"), ("lockstep",), ("drift", "--run")],
    "--on-code": [("check", "unheard-signal")],
}
EACH = [(option, command) for option, commands in COMMANDS.items() for command in commands]


@pytest.mark.parametrize(("option", "command"), EACH)
def test_what_is_no_tree_is_refused_in_one_line(
    shell: Shell, go: Path, tree: Path, tmp_path: Path, option: str, command: tuple[str, ...]
) -> None:
    def said(name: Path) -> str:
        ran = shell(*command, option, str(name))
        assert (ran.code, ran.out) == (USAGE, "")
        return ran.err.removeprefix(f"podrace: {option}: ")

    nowhere = tmp_path / "nowhere"
    line = (
        "neither a version nor a directory: write a version such as v1.36.3, or name a checkout of kubernetes"
    )
    assert said(nowhere) == f"`{str(nowhere)[:80]}`: {line}\n"
    assert said(tree) == (
        f"{tree}: a tree of unknown version: 0% of its functions are those of 1.38.0-beta.0, the nearest that is known; name its base with --release\n"
    )
    (tree / "go.mod").unlink()
    assert said(tree) == f"{tree}: it has no go.mod: name the root of kubernetes' sources\n"


def test_the_nearest_version_is_recognised_or_named(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that has the form of a version is one, also where there is such a directory."""
    with pytest.raises(UsageProblem, match="a tree of unknown version"):
        version_named(str(tree))
    named = version_named(str(tree), "1.38.0-beta.0")
    assert (named.tag, named.tree, str(named)) == (
        "v1.38.0-beta.0", tree, f"{tree} (compared with v1.38.0-beta.0)",
    )  # fmt: skip
    monkeypatch.setattr(trees, "LEAST_SHARE", 0)
    assert version_named(str(tree)).tag == "v1.38.0-beta.0"
    (tmp_path / "v1.36.3").mkdir()
    monkeypatch.chdir(tmp_path)
    assert version_named("v1.36.3").tree is None


@pytest.mark.ci
@pytest.mark.parametrize("version", ["1.37.2", "1.38.0-beta.0"])
def test_a_copy_of_a_tree_is_recognised(version: str, tmp_path: Path) -> None:
    """Without --release, and wherever it lies."""
    copy = tmp_path / "mine"
    shutil.copytree(tree_of(version) / "pkg/scheduler", copy / "pkg/scheduler")
    (copy / "go.mod").touch()
    assert str(version_named(str(copy))) == f"{copy} (compared with v{version})"


def test_a_shell_completes_versions_and_directories(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree.parent)
    assert code_names("ch") == ["checkout/"]
    assert code_names("v1.38") == code_names("1.38") == ["v1.38.0-beta.0"]


def test_the_code_of_a_tree_is_run_and_named(
    shell: Shell, go: Path, ghost: Path, tree: Path, tmp_path: Path
) -> None:
    where = f"{tree} (compared with v1.36.3)"
    ran = shell("reproduce", str(ghost), "--run", "--kubernetes", str(tree), "--release", "1.36.3")
    assert ran.code == REPRODUCED
    assert flat(ran.out).startswith(f"ghost, {where}: S-GHOST REPRODUCED ")
    assert "stands in for the version that upstream asks for" in ran.out
    copy = tmp_path / "cache" / "real" / "sources-v1.36.3" / "pkg" / "scheduler" / "scheduler.go"
    assert copy.read_text() == TEXT
    asked = (go / "asked.txt").read_text()
    assert "mod download" not in asked
    (tree / "pkg" / "scheduler" / "scheduler.go").write_text(TEXT.replace("mine", "yours"))
    shell("reproduce", str(ghost), "--run", "--kubernetes", str(tree), "--release", "1.36.3")
    assert "yours" in copy.read_text()  # what was built of the tree before is not taken


def test_random_runs_and_tours_name_the_tree(shell: Shell, go: Path, tree: Path) -> None:
    options = ("--release", "1.36.3", "-o", "json")
    ran = shell("lockstep", "--kubernetes", str(tree), "--clusters", "1", "--runs", "1", *options)
    (one,) = json.loads(ran.out)["versions"]
    assert one["scheduler"] == f"{tree} (compared with v1.36.3)"
    assert one["release"] == "1.36.3"
    assert list(one["instead"]) == ["k8s.io/gone"]
    ran = shell("check", "unheard-signal", "--on-code", str(tree), "--jobs", "1", "--release", "1.36.3")
    assert f"on the code of {tree} (compared with v1.36.3): IN STEP" in flat(ran.out)
    assert "k8s.io/gone" in ran.out


@pytest.mark.real
def test_a_tree_on_the_real_code(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ghost in 1.36.3's own sources, and in a tree of it that looks again before it requeues: the version is recognised, and the run differs."""
    from podrace.reproduce.modules.module import parse_version, sources_of
    from podrace.reproduce.patches import patched_copy, read_patch

    sources = sources_of(parse_version("v1.36.3"), go_or_skip(), tmp_path)
    mended = tmp_path / "mended"
    patched_copy(sources, mended, [read_patch("requeue-looks-again")])
    ran = shell("reproduce", "ghost", "--kubernetes", str(mended), "--run", "-o", "json")
    (one,) = json.loads(ran.out)
    assert one["scheduler"] == f"{mended} (compared with v1.36.3)"
    assert (ran.code, one["verdict"]) == (OTHERWISE, "DIFFERS")
