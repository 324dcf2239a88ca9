"""`podrace synthesize`: the cluster that is found, the file that `podrace check` confirms, and complaints."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.cli.unknown import Ranges, Unknown, placements, scenario_text, sizes
from podrace.model.environment.objects import Scope
from podrace.scenarios import read_scenario
from tests.cli.helpers import Shell

SMALL = (
    "--release",
    "1.13",
    "--pods",
    "2",
    "--nodes",
    "1",
    "--property",
    "S-UNIQ",
    "--steps",
    "6",
    "--no-color",
)


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


def flat(text: str) -> str:
    return " ".join(text.split())


def test_what_is_found_is_confirmed_by_check(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "found.yaml"
    ran = shell("synthesize", *SMALL, "-o", str(file))
    assert ran.code == 1
    assert "2 pods and 1 node, 1.13: S-UNIQ VIOLATED\n" in ran.out
    assert "Violated after 6 steps. With 2 pods and 1 node, no run is shorter" in flat(ran.out)
    assert "n1: {cpu: 1}\n" in ran.out
    assert f"wrote {file}: `podrace check` runs it" in flat(ran.err)
    checked = shell("check", str(file), "--no-color")
    assert checked.code == 1
    assert "s-uniq-2-pods-1-nodes-1, 1.13: S-UNIQ VIOLATED\n" in checked.out
    # Of all clusters of this size none fails sooner, so this one does not either.
    assert "Violated after 6 steps, and by no shorter run" in flat(checked.out)


def test_all_of_a_size(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "found.yaml"
    ran = shell("synthesize", *SMALL, "--all", "-o", str(file))
    assert ran.code == 1
    written = sorted(path.name for path in tmp_path.iterdir())
    assert len(written) == ran.out.count("S-UNIQ VIOLATED\n") - 1 > 1
    assert "2 pods and 1 node: no further violation within 6 steps" in flat(ran.out)
    texts = [(tmp_path / name).read_text().partition("nodes:")[2] for name in written]
    assert len(set(texts)) == len(texts)
    for name in written:
        assert shell("check", str(tmp_path / name), "--no-color").code == 1


def test_none_within_the_steps(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "found.yaml"
    ran = shell("synthesize", *SMALL, "--steps", "5", "-o", str(file))
    assert ran.code == 3
    assert "1.13: S-UNIQ INCONCLUSIVE\n" in ran.out
    assert (
        "1 pod and 1 node: no violation within 5 steps; 2 pods and 1 node: no violation within 5 steps. Covered are all "
        "requests up to 4, capacities up to 8 and priorities up to 4, and nothing beyond these steps."
        in flat(ran.out)
    )
    assert not file.exists()


def test_what_cannot_happen_at_all(shell: Shell) -> None:
    ran = shell("synthesize", "--release", "1.13", "--pods", "1", "--nodes", "1", "--no-color")
    assert ran.code == 3
    assert "1 pod and 1 node: no run of any length can violate it" in flat(ran.out)


def test_no_time(shell: Shell) -> None:
    ran = shell("synthesize", *SMALL, "--timeout", "1ms")
    assert ran.code == 3
    assert "1 pod and 1 node: nothing is known (timeout)" in flat(ran.out)


def test_a_bound_of_the_scope(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "found.yaml"
    ran = shell("synthesize", *SMALL, "--scope", "bind_failures=1", "--scope", "flush=false", "-o", str(file))
    assert ran.code == 1
    scope = read_scenario(file).spec.scope
    assert (scope.bind_failures, scope.flush) == (1, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--property", "L-PEND"), "no run that ends can violate it: name a safety property (S-...)"),
        (("--property", "S-CAPP"), "unknown property `S-CAPP`"),
        (("--release", "1.7"), "unknown release `1.7`"),
        (("--with-fix", "1"), "unknown fix `1`"),
        (("--scope", "bind_failures"), "--scope: `bind_failures` is no bound: write NAME=VALUE"),
        (("--scope", "pods=3"), "--scope: `pods=3` is no bound"),
        (("--scope", "bind_failures=many"), "bind_failures"),
        (("--steps", "-1"), "--steps"),
        (("--pods", "0"), "--pods"),
        (("-o", "/nowhere/found.yaml"), "name a file in a directory that exists"),
    ],
)
def test_complaints(shell: Shell, arguments: tuple[str, ...], message: str) -> None:
    given = dict(zip(SMALL[:-1:2], SMALL[1:-1:2], strict=True))
    option, value = arguments
    given[option] = value
    ran = shell("synthesize", *(word for pair in given.items() for word in pair))
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1


def test_sizes_begin_with_the_smallest() -> None:
    assert sizes(3, 2) == [(1, 1), (2, 1), (1, 2), (3, 1), (2, 2), (3, 2)]


@pytest.mark.parametrize(
    ("pods", "nodes", "expected"),
    [
        (2, 1, [(0,), (1,), (2,)]),
        (2, 2, [(0, 0), (1, 0), (1, 1), (2, 0)]),
        (3, 2, [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0)]),
    ],
)
def test_placements_up_to_names(pods: int, nodes: int, expected: list[tuple[int, ...]]) -> None:
    assert [unknown.bound for unknown in placements(pods, nodes, Scope())] == expected


@pytest.mark.parametrize(
    ("bound", "number"),
    [((0,), 6), ((1,), 2), ((3,), 6), ((0, 0), 12), ((1, 1), 2), ((2, 1), 2), ((1, 0), 2)],
)
def test_renamings_keep_the_placement(bound: tuple[int, ...], number: int) -> None:
    found = list(Unknown(3, bound, Scope()).renamings())
    assert len({tuple(renaming.items()) for renaming in found}) == len(found) == number
    names = set(found[0])
    assert all(set(renaming) == set(renaming.values()) == names for renaming in found)


def test_a_scenario_says_what_the_cluster_is(tmp_path: Path) -> None:
    unknown = Unknown(2, (1, 0), Scope(bind_failures=2))
    values = {"n1.cpu": 3, "n2.cpu": 2, "p1.cpu": 2, "p2.cpu": 1, "p1.priority": 4, "p2.priority": 0}
    file = tmp_path / "made.yaml"
    file.write_text(
        scenario_text(
            unknown, values, name="made", title="A title", release="1.13", properties="S-CAP", comment="Why."
        )
    )
    found = read_scenario(file)
    assert (found.name, found.title, found.release, found.properties) == (
        "made",
        "A title",
        "1.13",
        ("S-CAP",),
    )
    p1, p2 = found.spec.pods
    assert p1.node is found.spec.nodes[0]
    assert p2.node is None
    assert [p.cpu.value for p in found.spec.pods] == [2, 1]
    assert [n.cpu.value for n in found.spec.nodes] == [3, 2]
    assert [p.priority.value for p in found.spec.pods] == [4, 0]
    assert not p1.graceful
    assert found.spec.scope == unknown.scope


def test_the_ranges() -> None:
    assert Ranges.of(3) == Ranges(8, 24, 8)
