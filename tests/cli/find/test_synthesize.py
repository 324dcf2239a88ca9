"""`podrace synthesize`: the cluster that is found, the file that `podrace check` confirms, and complaints."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.scenarios import read_scenario
from tests.cli.helpers import Shell, flat

SMALL = (
    "--release",
    "1.13.0",
    "--pods",
    "2",
    "--nodes",
    "1",
    "--property",
    "S-UNIQ",
    "--steps",
    "7",
    "--no-color",
)


def test_what_is_found_is_confirmed_by_check(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "found.yaml"
    ran = shell("synthesize", *SMALL, "--write-scenario", str(file))
    assert ran.code == 1
    assert "2 pods and 1 node, 1.13.0: S-UNIQ VIOLATED\n" in ran.out
    assert "Violated after 7 steps. With 2 pods and 1 node, no run is shorter" in flat(ran.out)
    assert "n1: {cpu: 1}\n" in ran.out
    assert f"wrote {file}: `podrace check` runs it" in flat(ran.err)
    checked = shell("check", str(file), "--no-color")
    assert checked.code == 1
    assert "s-uniq-2-pods-1-nodes-1, 1.13.0: S-UNIQ VIOLATED\n" in checked.out
    # Of all clusters of this size none fails sooner, so this one does not either.
    assert "Violated after 7 steps, and no run is shorter" in flat(checked.out)


@pytest.mark.ci
def test_all_of_a_size(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "found.yaml"
    ran = shell("synthesize", *SMALL, "--all", "--write-scenario", str(file))
    assert ran.code == 1
    written = sorted(path.name for path in tmp_path.iterdir())
    assert len(written) == ran.out.count("S-UNIQ VIOLATED\n") - 1 > 1
    assert "2 pods and 1 node: no further violation within 7 steps" in flat(ran.out)
    texts = [(tmp_path / name).read_text().partition("nodes:")[2] for name in written]
    assert len(set(texts)) == len(texts)
    for name in written:
        assert shell("check", str(tmp_path / name), "--no-color").code == 1


def test_none_within_the_steps(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "found.yaml"
    ran = shell("synthesize", *SMALL, "--steps", "5", "--write-scenario", str(file))
    assert ran.code == 3
    assert "1.13.0: S-UNIQ INCONCLUSIVE\n" in ran.out
    assert (
        "1 pod and 1 node: no violation within 5 steps; 2 pods and 1 node: no violation within 5 steps. Covered are all "
        "requests up to 4, capacities up to 8 and priorities up to 4, and nothing beyond these steps."
        in flat(ran.out)
    )
    assert not file.exists()


def test_what_cannot_happen_at_all(shell: Shell) -> None:
    ran = shell("synthesize", "--release", "1.13.0", "--pods", "1", "--nodes", "1", "--no-color")
    assert ran.code == 3
    assert "1 pod and 1 node: no run of any length can violate it" in flat(ran.out)


def test_no_time(shell: Shell) -> None:
    ran = shell("synthesize", *SMALL, "--timeout", "1ms")
    assert ran.code == 3
    assert "1 pod and 1 node: nothing is known (timeout)" in flat(ran.out)


@pytest.mark.ci
def test_a_bound_of_the_scope(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "found.yaml"
    ran = shell(
        "synthesize",
        *SMALL,
        "--scope",
        "bind_failures=1",
        "--scope",
        "flush=false",
        "--write-scenario",
        str(file),
    )
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
        (("--scope", "bind_failures"), "--scope: `bind_failures`: write NAME=VALUE"),
        (("--scope", "pods=3"), "--scope:1: unknown field `pods`"),
        (("--scope", "bind_failures=many"), "bind_failures"),
        (("--steps", "-1"), "--steps"),
        (("--pods", "0"), "--pods"),
        (("--write-scenario", "/nowhere/found.yaml"), "name a file in a directory that exists"),
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
