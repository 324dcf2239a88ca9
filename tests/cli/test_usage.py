"""Wrong usage and wrong input: one line on stderr, exit code 2, nothing on stdout, no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.analysis.request.release_names import known_releases
from podrace.model.history import CHANGES
from podrace.properties import PROPERTIES
from tests.cli.helpers import TINY, Shell

NEWEST = known_releases()[-1]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(TINY)
    (tmp_path / "folder.svg").mkdir()
    return Shell(capsys)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("chek", "No such command 'chek'. Did you mean 'check', 'schema'? (see `podrace --help`)"),
        ("check --xyz", "No such option: --xyz (see `podrace check --help`)"),
        ("check tiny.yaml --jobs 0", "--jobs: `0` is no number of threads: write a number from 1 to 256"),
        ("check tiny.yaml -j two", "--jobs: `two` is no number of threads: write a number from 1 to 256"),
        ("check --release", "Option '--release' requires an argument. (see `podrace check --help`)"),
        (
            "check nominated",
            "unknown scenario `nominated`; the nearest: namesake-nominated, nominated-node-race, lost-nomination, wiped-nomination, undrained; `podrace races` and `podrace hazards` list all; or name a YAML file, such as ./mine.yaml",
        ),
        (
            "check no.yaml",
            "no.yaml: no such file; `podrace races` lists the scenarios that come with podrace",
        ),
        ("check folder.svg/", "folder.svg/: cannot be read: Is a directory"),
        ("check 72124 --release 1.99", f"unknown release `1.99`; the nearest: {NEWEST}; the model has 1.8.0 to {NEWEST}, and 1.38.0-beta.0"),
        ("check 72124 --release x", f"unknown release `x`: write for example 1.34, 1.34.3 or latest; the model has 1.8.0 to {NEWEST}, and 1.38.0-beta.0"),
        (
            "check 72124 --release 1.14.5",
            "unknown release `1.14.5`; known of 1.14: 1.14.0; take 1.14.0, and add with --with-fix what came after it",
        ),
        (
            "check 72124 --with-fix 5",
            f"unknown fix `5`; the nearest: 53647, 55109, 55262, 56622, 68892; `podrace fixes` lists all {len(CHANGES)}",
        ),
        (
            "check 72124 --without-fix hints-decid",
            f"unknown fix `hints-decid`; the nearest: hints-decide, taints-asked-for, hints-see-nominations; `podrace fixes` lists all {len(CHANGES)}",
        ),
        (
            "check 72124 --without-fix qqq",
            f"unknown fix `qqq`; `podrace fixes` lists all {len(CHANGES)}",
        ),
        (
            "check 72124 --without-fix kubernetes/kubernetes#72258",
            f"unknown fix `kubernetes/kubernetes#72258`; the nearest: 72259, 72558, 71488, 73097, 73309; `podrace fixes` lists all {len(CHANGES)}",
        ),
        (
            "check 72124 --with-fix 72259 --without-fix #72259",
            "fix 72259 cannot be put in and taken out at once: leave out --with-fix or --without-fix",
        ),
        (
            "check 72124 --property S-NM",
            f"unknown property `S-NM`; the nearest: S-NOM, S-RUN, S-NOMVIS, L-NOM, S-NOMLIVE; `podrace properties` lists all {len(PROPERTIES)}",
        ),
        ("properties XYZ", f"no property has the word `XYZ`, nor a race of one; `podrace properties` lists all {len(PROPERTIES)}"),
        ("check --max-states 0", "--max-states: `0` is no number of states: write for example 5000000 or 5M"),
        ("check --max-states -5", "--max-states: `-5` is no number of states: write for example 5000000 or 5M"),
        (
            f"check --max-states {'9' * 40}",
            f"--max-states: `{'9' * 40}` is no number of states: write for example 5000000 or 5M",
        ),
        ("check --max-memory 4X", "--max-memory: `4X` is no amount of memory: write for example 4G or 512M"),
        ("check --max-memory 4", "--max-memory: `4` is no amount of memory: write for example 4G or 512M"),
        ("check --max-memory 0", "--max-memory: `0` is no amount of memory: write for example 4G or 512M"),
        ("check --timeout 0s", "--timeout: `0s` is not a duration: use for example 60s, 5m or 1h"),
        ("check --timeout soon", "--timeout: `soon` is not a duration: use for example 60s, 5m or 1h"),
        (
            "check tiny.yaml --save-trace folder.svg",
            "--save-trace: cannot write `folder.svg`: it is a directory",
        ),
        ("check tiny.yaml --report tiny.yaml", "--report: `tiny.yaml` is a file: name a directory"),
        ("replay tiny.yaml", ("tiny.yaml: no trace of podrace: JSON is malformed: invalid character (byte 4): name a file "
            "that `podrace check --save-trace` wrote")),
        ("explain no.json", "no.json: cannot be read: No such file or directory: name a file that `podrace check --save-trace` wrote"),
        ("check tiny.yaml --graph a.pdf", "--graph: cannot draw `a.pdf`: the ending must be .svg, .png or .dot"),
        ("check tiny.yaml --graph no/a.svg", "--graph: cannot write `no/a.svg`: there is no directory `no`"),
        ("check tiny.yaml --graph folder.svg", "--graph: cannot write `folder.svg`: it is a directory"),
    ],
)  # fmt: skip
def test_one_line_says_what_is_wrong(shell: Shell, line: str, message: str) -> None:
    ran = shell(*line.split())
    assert (ran.code, ran.out, ran.err) == (2, "", f"podrace: {message}\n")


@pytest.mark.parametrize(
    "line", ["check tiny.yaml --properties {}", "check tiny.yaml --patch {}", "check -f {}", "check {}.yaml"]
)
def test_a_name_that_is_too_long_for_a_file(shell: Shell, line: str) -> None:
    ran = shell(*line.format("a" * 3000).split())
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "File name too long" in ran.err


@pytest.mark.parametrize("option", ["-o", "--engine"])
def test_a_choice_that_does_not_exist(shell: Shell, option: str) -> None:
    ran = shell("check", option, "xml")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "'xml' is not one of" in ran.err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("S-CAP", "S-KAP"), f"tiny.yaml:4: properties[0]: unknown property `S-KAP`; the nearest: S-CAP, S-SNAP, S-KEPT, S-PV, S-PDB; `podrace properties` lists all {len(PROPERTIES)}"),
        (('"1.19.0"', "1.7"), f"tiny.yaml:3: release: unknown release `1.7`; the nearest: 1.8.0; the model has 1.8.0 to {NEWEST}, and 1.38.0-beta.0"),
        (("cpu: 1}}\n", "cpu: 0}}\n"), ("tiny.yaml:6: pods.p.cpu: the pod requests 1, but the largest node, n, has 0: "
            "lower the request or enlarge a node")),
    ],
)  # fmt: skip
def test_a_mistake_in_a_file(shell: Shell, tmp_path: Path, change: tuple[str, str], message: str) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY.replace(*change, 1))
    ran = shell("check", "tiny.yaml")
    assert (ran.code, ran.out, ran.err) == (2, "", f"podrace: {message}\n")


def test_settings_that_are_not_the_default_are_named_in_the_scope(shell: Shell, tmp_path: Path) -> None:
    assert "Scope: pod events" in (plain := shell("check", "tiny.yaml").out)
    assert "scored" not in plain
    (tmp_path / "tiny.yaml").write_text(f"{TINY}config: {{scored: true, hardPodAffinityWeight: 7}}\n")
    ran = shell("check", "tiny.yaml")
    assert "scored, hard affinity weight 7." in " ".join(ran.out.split())


def test_no_command_shows_the_help(shell: Shell) -> None:
    ran = shell()
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Usage: podrace [OPTIONS] COMMAND [ARGS]...")


def test_a_drawing_that_cannot_be_written_is_refused_before_the_search(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    ran = shell("check", "tiny.yaml", "--graph", "a.svg")
    assert (ran.code, ran.err) == (2, "podrace: --graph: cannot write `a.svg`: permission denied\n")
