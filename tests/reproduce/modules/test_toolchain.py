"""Go is found, and what it says becomes one line; go.mod is made for a version."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from podrace.reproduce.modules.module import go_mod, parse_version, write_module
from podrace.reproduce.modules.toolchain import (
    BuildProblem,
    Go,
    GoProblem,
    UnknownVersion,
    find_go,
    has_go,
    problem_of,
)
from podrace.reproduce.running import alone_in, built_for, kept_in, refuse_read_only
from tests.reproduce.fake_go import DECLARED, fake_go


def test_go_is_found(go: Path) -> None:
    found = find_go()
    assert (found.program, found.version, found.language) == (str(go / "go"), "go1.26.8", "1.26")
    assert has_go()


def test_without_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not has_go()
    with pytest.raises(GoProblem, match=r"there is no Go on this machine: install Go 1\.26 or later"):
        find_go()


@pytest.mark.usefixtures("go")
def test_that_a_newer_go_is_needed_is_said_before_any_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PODRACE_CACHE", str(tmp_path / "kept"))

    def say(words: str) -> None:
        raise AssertionError(words)

    version = parse_version("v1.38.0-beta.0")
    with alone_in(kept_in() / f"sources-{version.tag}", say), pytest.raises(GoProblem, match=r"needs Go 1\.27\.0 or later"):  # fmt: skip
        built_for(version, find_go(), say)


@pytest.mark.parametrize("version", ["go1.25.9", "go1.9", "devel"])
def test_go_that_is_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setenv("PATH", str(fake_go(tmp_path, version)))
    with pytest.raises(GoProblem, match=r"install Go 1\.26 or later"):
        find_go()


def test_a_program_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "go").write_text("#!/nowhere\n")
    (tmp_path / "go").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GoProblem, match="cannot run"):
        find_go()


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ("go: k8s.io/kubernetes@v1.99.0: invalid version: unknown revision v1.99.0", UnknownVersion, "no such version"),
        ("go: reading https://p/k8s.io/api/@v/v0.1.2.zip: 403 Forbidden\n\tserver response: no", UnknownVersion, "no such version"),
        ("go: downloading x\ngo: x: Get \"https://p\": dial tcp: lookup p: no such host", GoProblem, "cannot fetch modules"),
        ("# m\n./a.go:3:1: undefined: x\n./b.go:1:1: other", BuildProblem, "does not compile: ./a.go:3:1: undefined: x"),
        ("", GoProblem, "it says nothing"),
        ("something\nelse", GoProblem, "`go test -c` failed: else"),
        ("go: go.mod requires go >= 1.27.0 (running go 1.26.8; GOTOOLCHAIN=local)", GoProblem, "go.mod needs Go 1.27.0 or later, and `go` is 1.26.8"),
        ("k8s.io/kubernetes@v1.38.0-beta.0 requires go >= 1.27.0 (running go 1.26.8; GOTOOLCHAIN=local)", GoProblem,
         "k8s.io/kubernetes@v1.38.0-beta.0 needs Go 1.27.0 or later, and `go` is 1.26.8: set the variable GOTOOLCHAIN=go1.27.0, and Go fetches it"),
    ],
)  # fmt: skip
def test_what_go_says_is_one_line(text: str, kind: type[GoProblem], line: str) -> None:
    problem = problem_of(text, ["test", "-c"])
    assert type(problem) is kind
    assert line in str(problem)
    assert "\n" not in str(problem)


@pytest.mark.parametrize(
    ("text", "version", "staging"),
    [
        ("v1.36.3", "v1.36.3", "v0.36.3"),
        ("1.35", "v1.35.8", "v0.35.8"),
        ("1.35.0", "v1.35.0", "v0.35.0"),
        ("v1.29.6", "v1.29.6", "v0.29.6"),
        ("v1.38.0-beta.0", "v1.38.0-beta.0", "v0.38.0-beta.0"),
        ("1.38.0-rc.1", "v1.38.0-rc.1", "v0.38.0-rc.1"),
    ],
)
def test_versions(text: str, version: str, staging: str) -> None:
    found = parse_version(text)
    assert (str(found), found.staging) == (version, staging)


def test_go_mod() -> None:
    """Staging modules at the version that goes with it, everything else as upstream has it."""
    text = go_mod(DECLARED, parse_version("v1.36.3"), {"k8s.io/gone": "v0.36.5"})
    assert text == (
        "module k8s.io/kubernetes/pkg/scheduler/podrace\n\n"
        "go 1.26.0\n\n"
        "godebug default=go1.26\n\n"
        "require (\n"
        "\tk8s.io/kubernetes v1.36.3\n"
        "\tk8s.io/api v0.36.3\n"
        "\tk8s.io/gone v0.36.5\n"
        "\texample.com/other v1.2.3 // indirect\n"
        ")\n\n"
        "replace (\n"
        "\texample.com/other => example.com/fork v1.2.4\n"
        "\tk8s.io/api => k8s.io/api v0.36.3\n"
        "\tk8s.io/gone => k8s.io/gone v0.36.5\n"
        ")\n"
    )


def test_a_module_of_another_release_brings_nothing_newer_with_it() -> None:
    """What upstream is built with is pinned where a staging module of another release would ask for more."""
    text = go_mod(DECLARED, parse_version("v1.36.3"), {"k8s.io/gone": "v0.37.1"})
    assert text.endswith(
        "\texample.com/other => example.com/fork v1.2.4\n"
        "\tk8s.io/api => k8s.io/api v0.36.3\n"
        "\tk8s.io/gone => k8s.io/gone v0.37.1\n"
        ")\n"
    )
    plain = {
        **DECLARED,
        "Replace": [row for row in DECLARED["Replace"] if row["Old"]["Path"] != "example.com/other"],
    }
    assert go_mod(plain, parse_version("v1.36.3"), {"k8s.io/gone": "v0.37.1"}).endswith(
        "\tk8s.io/gone => k8s.io/gone v0.37.1\n\texample.com/other => example.com/other v1.2.3\n)\n"
    )
    assert "other =>" not in go_mod(plain, parse_version("v1.36.3"), {"k8s.io/gone": "v0.36.5"})


def test_an_old_language_version() -> None:
    """The driver needs a newer language, its timers included; everything else is as upstream builds it."""
    text = go_mod({"Go": "1.21"}, parse_version("v1.29.6"), {})
    assert text.splitlines()[2:6] == ["go 1.25.0", "", "godebug default=go1.21", "godebug asynctimerchan=0"]


@pytest.mark.parametrize("of_tree", [False, True])
def test_what_is_not_to_be_had_is_replaced_by_the_nearest(go: Path, tmp_path: Path, of_tree: bool) -> None:
    """Of a tree, too, but for what is staged in it."""
    folder, tree = tmp_path / "module", tmp_path / "a tree"
    staged = tree / "staging" / "src" / "k8s.io" / "api"
    for made in (folder, staged):
        made.mkdir(parents=True)
    (tree / "go.sum").write_text("sums of the tree\n")
    version = parse_version("v1.36.3")
    files = write_module(replace(version, tree=tree) if of_tree else version, find_go(), folder)
    assert files.instead == {"k8s.io/gone": "v0.36.1"} or files.instead == {"k8s.io/gone": "v0.36.5"}
    assert (folder / "go.sum").read_text() == f"sums of {'the tree' if of_tree else 'v1.36.3'}\n"
    text = (folder / "go.mod").read_text()
    assert "k8s.io/gone v0.36.3" not in text
    assert (f'\tk8s.io/kubernetes => "{tree}"\n' in text) is of_tree
    assert (f'\tk8s.io/api => "{staged}"\n' in text) is of_tree


def test_any_module_can_be_one_that_is_not_to_be_had() -> None:
    """A module of upstream's go.mod that is not staged in it, and one of which there is no version at all."""
    text = go_mod(
        DECLARED,
        parse_version("v1.36.3"),
        {"example.com/rare": "v1.2.2", "k8s.io/gone": "./empty/k8s.io/gone"},
    )
    assert "\tk8s.io/gone v0.36.3\n" in text
    assert "\tk8s.io/gone => ./empty/k8s.io/gone\n" in text
    assert "\texample.com/rare => example.com/rare v1.2.2\n" in text
    assert "other => example.com/other" not in text


def test_a_version_that_is_none(go: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownVersion, match=r"there is no k8s\.io/kubernetes v1\.36\.99"):
        write_module(parse_version("v1.36.99"), find_go(), tmp_path)


def test_no_network(go: Path, tmp_path: Path) -> None:
    with pytest.raises(GoProblem, match="cannot fetch modules"):
        write_module(parse_version("v1.35.0"), find_go(), tmp_path)


def test_the_fake_is_one(go: Path) -> None:
    assert (go / "go").read_text().startswith(f"#!{sys.executable}\n")


def test_what_is_built_is_kept_where_nobody_else_can_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PODRACE_CACHE", str(tmp_path / "kept"))
    assert kept_in() == tmp_path / "kept" / "real"
    for folder in (tmp_path / "kept", tmp_path / "kept" / "real"):
        folder.chmod(0o770)
        with pytest.raises(GoProblem) as problem:
            kept_in()
        assert str(problem.value) == (
            f"the cache: others may write into `{folder}`, and what is built there is run: run `chmod go-w {folder}`"
        )
        folder.chmod(0o700)


def test_a_cache_that_cannot_be_made_or_written_into_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remedy = "name a directory in which something can be built with the variable PODRACE_CACHE"
    (tmp_path / "file").touch()
    monkeypatch.setenv("PODRACE_CACHE", str(tmp_path / "file"))
    with pytest.raises(GoProblem) as problem:
        kept_in()
    assert str(problem.value) == f"the cache: `{tmp_path / 'file'}`: File exists: {remedy}"
    monkeypatch.setenv("PODRACE_CACHE", str(tmp_path / "file" / "below"))
    with pytest.raises(GoProblem) as problem:
        kept_in()
    assert str(problem.value) == f"the cache: `{tmp_path / 'file' / 'below'}`: Not a directory: {remedy}"

    def of_others(*_: object) -> bool:
        return False

    refuse_read_only(tmp_path)
    monkeypatch.setattr("os.access", of_others)
    with pytest.raises(GoProblem) as problem, alone_in(tmp_path / "go-tests", print):
        pass
    assert str(problem.value) == f"the cache: nothing can be written into `{tmp_path}`: {remedy}"
    with pytest.raises(GoProblem, match="Not a directory"):
        built_for(parse_version("v1.35.0"), Go("go", "go1.26.8"), print)
    monkeypatch.setenv("PODRACE_CACHE", str(tmp_path / "kept"))
    with pytest.raises(GoProblem, match="nothing can be written into"):
        built_for(parse_version("v1.35.0"), Go("go", "go1.26.8"), print)
