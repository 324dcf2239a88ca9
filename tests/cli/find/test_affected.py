"""Which version is meant, which one a dump is of, and which versions are affected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podrace.analysis.possible.releases import releases_of
from podrace.analysis.request.release_names import (
    known_releases,
    like_its_neighbours,
    nearest_read,
    parse_release,
)
from podrace.base.problems import UsageProblem
from podrace.cli.configuration.option_rows import release_names
from podrace.model.history import PATCH_VERSIONS, PRE_RELEASES, RELEASE_ORDER, resolve
from podrace.model.history.versions import canonical, exact
from tests.cli.helpers import TINY, Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(TINY)
    return Shell(capsys)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1.34", "1.34.11"), ("v1.34", "1.34.11"), ("V1.34", "1.34.11"), ("1.34.0", "1.34.0"), ("v1.34.0", "1.34.0"),
        ("1.34.3", "1.34.3"), ("v1.34.3", "1.34.3"), ("1.34.03", "1.34.3"), ("1.31", "1.31.14"), ("1.13", "1.13.2"),
        ("1.14", "1.14.0"), ("1.8", "1.8.0"), ("v1.37.2", "1.37.2"),
    ],
)  # fmt: skip
def test_spellings(written: str, meant: str) -> None:
    assert exact(parse_release(written)) == meant


def test_latest_is_the_newest_of_the_newest_release() -> None:
    assert parse_release("latest") == parse_release("Latest") == parse_release(RELEASE_ORDER[-1])
    assert exact(parse_release("latest")) == known_releases()[-1]


def test_every_version_is_asked_for_by_its_full_name() -> None:
    assert [parse_release(name) for name in known_releases()] == [canonical(n) for n in known_releases()]
    assert set(known_releases()) == {*map(exact, RELEASE_ORDER), *PATCH_VERSIONS}


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("1.99", "unknown release `1.99`; the nearest: 1.37.2; the model has 1.8.0 to 1.37.2, and 1.38.0-beta.0"),
        ("1.10", "unknown release `1.10`; the nearest: 1.9.0; the model has 1.8.0 to 1.37.2, and 1.38.0-beta.0"),
        ("1.7", "unknown release `1.7`; the nearest: 1.8.0; the model has 1.8.0 to 1.37.2, and 1.38.0-beta.0"),
        ("newest", "unknown release `newest`: write for example 1.34, 1.34.3 or latest; the model has 1.8.0 to 1.37.2, and 1.38.0-beta.0"),
        ("1", "unknown release `1`: write for example 1.34, 1.34.3 or latest; the model has 1.8.0 to 1.37.2, and 1.38.0-beta.0"),
        ("v1.37.0-beta.0", "unknown release `v1.37.0-beta.0`; known of 1.37: 1.37.0, 1.37.1, 1.37.2; the nearest: 1.37.0"),
        ("v1.99.0-beta.0", "unknown release `v1.99.0-beta.0`; the nearest: 1.37.2; the model has 1.8.0 to 1.37.2, and 1.38.0-beta.0"),
        ("1.38", "unknown release `1.38`; 1.38.0-beta.0 is a beta; write it in full"),
        ("1.38.0", "unknown release `1.38.0`; 1.38.0-beta.0 is a beta; write it in full"),
        ("v1.38.0-rc.1", "unknown release `v1.38.0-rc.1`; 1.38.0-beta.0 is a beta; write it in full"),
        ("v1.34.3-gke.1245000", "unknown release `v1.34.3-gke.1245000`; what a vendor adds is not modelled; the nearest: 1.34.3"),
        ("1.34.9", "unknown release `1.34.9`; known of 1.34: 1.34.0, 1.34.2, 1.34.3, 1.34.4, 1.34.11; take 1.34.4, and add with --with-fix what came after it"),
    ],
)  # fmt: skip
def test_what_is_not_modelled_is_one_line_with_the_nearest(written: str, said: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        parse_release(written)
    assert str(refused.value) == said


def test_a_pre_release_is_meant_only_where_it_is_written_in_full() -> None:
    assert [parse_release(f"{v}{name}") for v in ("", "v") for name in PRE_RELEASES] == [*PRE_RELEASES] * 2
    assert set(PRE_RELEASES).isdisjoint(
        {*known_releases(), parse_release("latest"), nearest_read((1, 38, 0))}
    )
    assert release_names("1.38") == list(PRE_RELEASES)


@pytest.mark.parametrize(
    ("written", "releases"),
    [
        ("1.36..1.38.0-beta.0", ["1.36.5", "1.37.2", "1.38.0-beta.0"]),
        ("1.37.0..1.38.0-beta.0", ["1.37.0", "1.37.1", "1.37.2", "1.38.0-beta.0"]),
        ("1.36..1.37", ["1.36.5", "1.37.2"]),
    ],
)
def test_a_pre_release_ends_a_range(written: str, releases: list[str]) -> None:
    assert releases_of([written]) == releases


@pytest.mark.parametrize(
    ("running", "nearest"),
    [((1, 34, 3), "1.34.3"), ((1, 34, 9), "1.34.4"), ((1, 34, 1), "1.34"), ((1, 99, 0), "1.37.2"), ((1, 2, 3), "1.8")],
)  # fmt: skip
def test_a_cluster_runs_what_it_runs(running: tuple[int, int, int], nearest: str) -> None:
    assert nearest_read(running) == nearest


@pytest.mark.parametrize(
    ("running", "after"),
    [((1, 36, 2), "1.36.3"), ((1, 34, 1), ""), ((1, 34, 99), ""), ((1, 20, 5), ""), ((1, 11, 0), ""), ((1, 2, 3), "")],
)  # fmt: skip
def test_a_version_between_two_that_are_the_same(running: tuple[int, int, int], after: str) -> None:
    """133167 is in 1.34.0, and not in 1.34.2."""
    assert like_its_neighbours(running) == after


def test_affected(shell: Shell) -> None:
    """133167 closes gone-victim; it is in 1.34.0, and was taken out in 1.34.2."""
    ran = shell("check", "gone-victim", "--affected", "-o", "json", "--closing", "10m")
    rows = [(row["versions"][0], row["versions"][-1], row["verdict"]) for row in json.loads(ran.out)]
    assert ran.code == 1
    assert rows[-4:] == [
        ("1.33.0", "1.33.13", "VIOLATED"), ("1.34.0", "1.34.0", "HOLDS"), ("1.34.2", known_releases()[-1], "VIOLATED"),
        (PRE_RELEASES[0], PRE_RELEASES[-1], "HOLDS"),
    ]  # fmt: skip
    turns = [row["turn"].partition(":")[0] for row in json.loads(ran.out) if row["turn"]]
    assert turns == [
        "opened by async-preemption",
        "closed by 133167",
        "opened by 133167, which was taken back",
        "closed by last-victim-gone",
    ]
    assert [(row["steps"], row["steps_in_last"]) for row in json.loads(ran.out)][-2] == (35, 36)
    assert [row["scenario"] for row in json.loads(ran.out) if "in_part" in row] == ["gone-victim"]
    having = [v for v in known_releases() if "133167" not in {c.key for c in resolve(v).missing}]
    assert having == ["1.34.0"]


@pytest.mark.nightly
def test_affected_in_sentences(shell: Shell) -> None:
    told = shell("check", "gone-victim", "--affected", "--closing", "10m").out
    assert "\n                1.34.0: closed by 133167: a preemptor whose victims were all gone is" in told
    assert "VIOLATED (only with a delay of minutes) after 35 steps, in 1.37.2 after 36\n" in told
    assert told.splitlines()[-1].startswith(f"{PRE_RELEASES[-1]}: sources read by pull request, not in full")
    assert "opened by" not in shell("check", "gone-victim", "--affected", "--closing", "0").out


def test_affected_in_words(shell: Shell) -> None:
    ran = shell("check", "tiny.yaml", "--affected")
    first, row, in_part = ran.out.splitlines()
    assert (ran.code, first.partition(". ")[0]) == (0, "tiny: S-CAP")
    assert row.startswith(f"  not affected  1.8.0 to {PRE_RELEASES[-1]:<11} HOLDS")
    assert in_part.startswith(f"{PRE_RELEASES[-1]}: sources read by pull request, not in full")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--affected",), "--affected asks all versions about one race or scenario: name it"),
        (("tiny.yaml", "--affected", "--release", "1.34"), "--affected asks all versions: leave out --release"),
        (("tiny.yaml", "--affected", "-o", "html"), "--affected prints text or json: leave out --output html"),
        (("tiny.yaml", "--affected", "--report", "d"), "--affected prints one table: leave out --graph, --save-trace and --report"),
    ],
)  # fmt: skip
def test_affected_refused(shell: Shell, options: tuple[str, ...], said: str) -> None:
    ran = shell("check", *options)
    assert (ran.code, ran.out, ran.err) == (2, "", f"podrace: {said}\n")


def test_the_versions_of_a_release_may_differ(shell: Shell) -> None:
    said = (
        "note: gone-victim, {}: the versions of 1.34 differ: 133167, which closes this race, is in 1.34.0, and not in "
        "1.34.2, 1.34.3, 1.34.4 and 1.34.11\n"
    )
    for asked, version in (("1.34", "1.34.11"), ("1.34.0", "1.34.0")):
        ran = shell("check", "gone-victim", "--release", asked, "--closing", "0")
        assert said.format(version) in ran.out.replace("\nis ", " is ").replace("\n1.34", " 1.34")
    assert "versions of" not in shell("check", "gone-victim", "--closing", "0").out
    assert "versions of" not in shell("check", "gone-victim", "--release", "1.34", "--with-fix", "133167").out


NODE = """\
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{{labels}}}}}
status: {{allocatable: {{cpu: 1}}, nodeInfo: {{kubeletVersion: {version}}}}}
---
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default}
spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}
---
"""
SCHEDULER = """\
apiVersion: v1
kind: Pod
metadata: {name: kube-scheduler-a, namespace: kube-system}
spec: {nodeName: a, containers: [{name: c, image: "registry.example/kube-scheduler:v1.33.6@sha256:0"}]}
status: {phase: Running}
---
"""
PLANE = "node-role.kubernetes.io/control-plane: ''"
OLD, NEW = (
    NODE.format(name="a", labels=PLANE, version="v1.34.3"),
    NODE.format(name="b", labels="", version="v1.34.5-gke.1"),
)


@pytest.mark.parametrize(
    ("objects", "release", "said"),
    [
        (NEW + POD, "1.34.4", ("version 1.34.5, by the newest kubelet: the scheduler is this version or newer, because a kubelet may be three releases "
            "older; 1.34.5 was not read: podrace checks 1.34.4, the nearest version of the model; podrace does not know what -gke.1 changes; --release sets another")),
        (OLD + NEW + POD, "1.34.3", ("version 1.34.3, by the kubelet of a control-plane Node: the scheduler usually is the same version; "
            "--release sets another")),
        (OLD + SCHEDULER + POD, "1.33.6", ("version 1.33.6, by the image of the kube-scheduler Pod: that is what the scheduler runs; "
            "--release sets another")),
        (OLD + POD + '{"serverVersion": {"gitVersion": "v1.36.3+k3s1"}, "clientVersion": {"gitVersion": "v1.2.3"}}', "1.36.3",
            ("version 1.36.3, by kubectl version: that is the API server; the scheduler is this version, or one release older during an "
            "upgrade; podrace does not know what +k3s1 changes; --release sets another")),
        (NODE.format(name="b", labels="", version="v1.38.0-beta.0+k3s1") + POD, "1.38.0-beta.0", ("version 1.38.0-beta.0, by the newest kubelet: the "
            "scheduler is this version or newer, because a kubelet may be three releases older; podrace does not know what +k3s1 changes; --release sets another")),
        (NEW + NODE.format(name="c", labels="", version="v1.37.0-rc.1") + POD, "1.37.0", ("version 1.37.0-rc.1, by the newest kubelet: the scheduler "
            "is this version or newer, because a kubelet may be three releases older; 1.37.0-rc.1 was not read: podrace checks 1.37.0, the nearest version "
            "of the model; --release sets another")),
    ],
)  # fmt: skip
def test_the_version_of_a_dump(shell: Shell, tmp_path: Path, objects: str, release: str, said: str) -> None:
    (tmp_path / "dump.yaml").write_text(objects)
    ran = shell("check", "-f", "dump.yaml", "--property", "S-CAP")
    verdict, code = ("INCONCLUSIVE", 3) if "was not read" in said else ("HOLDS", 0)
    assert (ran.code, ran.out.partition("\n")[0]) == (code, said)
    assert f"dump, {release}: S-CAP {verdict}" in ran.out
    ran = shell("check", "-f", "dump.yaml", "--property", "S-CAP", "--release", "1.35.4")
    assert "; podrace checks 1.35.4, as --release says\n" in ran.out
    assert f"release: {release}\n" in shell("check", "-f", "dump.yaml", "--write-scenario", "-").out


def test_files_of_others_in_a_directory_are_passed_over(shell: Shell, tmp_path: Path) -> None:
    """The scenario and the settings that `podrace` itself writes, and those of others; what is named, or may be cut off, is read."""
    (tmp_path / "dump.yaml").write_text(NODE.format(name="a", labels="", version="v1.37.0") + POD)
    (tmp_path / ".podrace.yaml").write_text("check: {max-states: 1M}\n")
    (tmp_path / "numbers.json").write_text("[1, 2]\n")
    ran = shell("check", "-f", ".", "--property", "S-CAP")
    assert ran.code == 0
    assert ran.err == (
        "note: files of a directory that have no Kubernetes object are passed over (.podrace.yaml, numbers.json and 1 more)\n"
    )
    for line in (("-f", "numbers.json"), ("-f", ".", "--strict")):
        assert shell("check", *line).code == 2
    (tmp_path / "cut.yaml").write_text("items: []\n")
    assert "the text may be cut off" in shell("check", "-f", ".").err


def test_a_dump_that_names_no_version(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "dump.yaml").write_text(NODE.format(name="a", labels="", version="new") + POD)
    assert shell("check", "-f", "dump.yaml", "--property", "S-CAP").out.startswith("cluster: ")
    (tmp_path / "dump.yaml").write_text('{"clientVersion": {"gitVersion": "v1.35.0"}}')
    assert shell("check", "-f", "dump.yaml").err == (
        "podrace: dump.yaml:1: clientVersion: this is the version of kubectl alone: ask with a connection to the cluster, for its "
        "`serverVersion`\n"
    )


DUMP = """
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "2", memory: 2Gi, pods: "9"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: m, namespace: x}, spec: {nodeName: n1, containers: [{name: c}], resources: {requests: {cpu: "1"}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: x}, spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
"""


def test_what_is_in_doubt_on_a_version_decides_nothing_there(shell: Shell) -> None:
    """Until now, doubts about a dump were not heard here, and a cluster that nobody knows well was not affected."""
    Path("d.yaml").write_text(DUMP)
    ran = shell("check", "-f", "d.yaml", "--affected", "--property", "S-CAP", "--pods", "2")
    rows = [line.split()[:5] for line in ran.out.splitlines()[1:]]
    assert (ran.code, [row for row in rows if row[0] == "not"]) == (
        3,
        [["not", "decided", "1.8.0", "to", "1.33.13"], ["not", "affected", "1.34.0", "to", PRE_RELEASES[-1]]],
    )  # fmt: skip
    (told,) = {shell("check", "-f", "d.yaml", "--property", "S-CAP", "--release", "1.33.0").code}
    assert told == 3


def test_an_upgrade_to_a_version_on_which_something_is_in_doubt_is_not_decided(shell: Shell) -> None:
    Path("d.yaml").write_text(DUMP)
    ran = shell("check", "-f", "d.yaml", "--upgrade", "1.33", "--property", "S-CAP")
    assert ran.code == 2
    assert "--upgrade: podrace does not model all that decides it (resources of the pod as a whole" in ran.err
