"""`podrace induct`: proofs, counterexamples to induction, violations, and complaints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.helpers import Shell, flat


def test_a_proof_for_all_sizes(shell: Shell, tiny: str) -> None:
    ran = shell("induct", tiny, "--unknown", "--no-color")
    assert ran.code == 0
    assert "tiny, 1.19.0: S-CAP PROVED\n" in ran.out
    assert (
        "Proved for all requests up to 2, capacities up to 2 and priorities up to 2, by k-induction with k = 1, "
        "for runs of any length." in flat(ran.out)
    )


def test_a_proof_up_to_a_given_depth(shell: Shell, tiny: str) -> None:
    ran = shell("induct", tiny, "--no-color", "-k", "3")
    assert ran.code == 0
    assert "Proved by k-induction with k = 1, for runs of any length." in flat(ran.out)


def test_a_counterexample_to_induction_is_shown(shell: Shell, tiny: str) -> None:
    ran = shell("induct", tiny, "--property", "S-BIND", "--no-color", "-k", "1")
    assert ran.code == 3
    assert "tiny, 1.19.0: S-BIND INCONCLUSIVE\n" in ran.out
    assert "state 1, which perhaps nothing reaches:" in ran.out
    assert "then binding.bind(pod=p, reply=" in ran.out
    assert "S-BIND.broken = true" in ran.out
    assert "Not inductive up to k = 1" in flat(ran.out)


def test_a_violation_is_executed_and_shown(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    pods = "pods: {a: {cpu: 1, nodeName: n, terminationGracePeriodSeconds: 0}, b: {cpu: 1}}\n"
    file.write_text(f'name: two\nrelease: "1.13.0"\nproperties: [S-UNIQ]\nnodes: {{n: {{cpu: 1}}}}\n{pods}')
    ran = shell("induct", str(file), "--no-color", "-k", "9")
    assert ran.code == 1
    assert "two, 1.13.0: S-UNIQ VIOLATED\n" in ran.out
    assert "Violated after 7 steps, executed again." in flat(ran.out)
    assert "pop(b)" in ran.out


def test_no_time(shell: Shell, tiny: str) -> None:
    ran = shell("induct", tiny, "--property", "S-BIND", "--timeout", "1ms", "--no-color")
    assert ran.code == 3
    assert "Stopped by the time limit at " in ran.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--property", "L-PEND"), "induction is for one safety property of one scenario"),
        (("-k", "0"), "-k"),
    ],
)
def test_complaints(shell: Shell, tiny: str, arguments: tuple[str, ...], message: str) -> None:
    ran = shell("induct", tiny, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1
