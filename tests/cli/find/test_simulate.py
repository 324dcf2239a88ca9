"""`podrace simulate`: reports, exit codes, and complaints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.helpers import TINY, Shell

OWN = """\
from podrace.model.language import any_of
from podrace.properties import Property

class NobodyAssumed(Property):
    'No pod is ever assumed.'
    id = "MY-NONE"

    def holds(self):
        return ~any_of(self.cache.is_assumed(p) for p in self.pods)
"""


def rows(text: str) -> list[dict[str, Any]]:
    """The rows of a JSON report without what depends on time."""
    found: list[dict[str, Any]] = json.loads(text)
    for row in found:
        del row["seconds"], row["steps_per_second"]
    return found


def test_a_race_is_found(shell: Shell, tmp_path: Path) -> None:
    target = tmp_path / "race.dot"
    ran = shell("simulate", "72124", "--without-fix", "72259", "--graph", str(target), "--no-color")
    assert ran.code == 1
    assert "nominated-node-race, 1.13.0: S-NOMVIS VIOLATED\n" in ran.out
    assert (
        "Violated after 15 steps, perhaps sooner by another run (met by walk 62 after 20 steps"
        in " ".join(ran.out.split())
    )
    assert "  15. The scheduler assumes q on n1: in its cache the pod is there already.\n" in ran.out
    assert "●" not in ran.out
    assert "● q is assumed" in shell("simulate", "72124", "--no-color", "-v").out
    assert f"wrote {target}" in ran.err
    assert target.read_text().startswith("digraph counterexample {")


def test_nothing_found_is_inconclusive(shell: Shell, tiny: str) -> None:
    ran = shell("simulate", tiny, "--property", "S-CONS", "--walks", "1k", "--seed", "7")
    assert ran.code == 3
    lines = " ".join(ran.out.split())
    assert "tiny, 1.19.0: S-CONS INCONCLUSIVE" in lines
    assert "No violation in 1,000 random walks: " in lines
    assert "Nothing is known about other runs. Seed 7: the same seed gives the same walks." in lines
    assert "Steps that never ran (" in lines
    assert "Values that variables took: " in lines
    assert "HOLDS" not in ran.out


def test_json_is_the_same_for_any_number_of_threads(shell: Shell) -> None:
    command = ("simulate", "72124", "--with-fix", "72259", "--walks", "200", "-o", "json")
    one, again, two = (shell(*command, "--jobs", jobs) for jobs in ("1", "1", "2"))
    assert rows(one.out) == rows(again.out) == rows(two.out)
    (row,) = rows(one.out)
    assert (row["verdict"], row["walks"], row["walk"], row["trace"]) == ("INCONCLUSIVE", 200, None, None)
    assert row["steps"] == sum(row["steps_fired"].values())
    assert "scheduler.roll_back" in row["steps_never_fired"]
    phase = next(v for v in row["values"] if v["variable"] == "scheduler.phase")
    assert phase["seen"] + len(phase["missing"]) == phase["possible"]
    (other,) = rows(shell(*command, "--seed", "1").out)
    assert other["steps_fired"] != row["steps_fired"]
    (third,) = rows(shell(*command, "--by", "transition").out)
    assert (third["by"], third["steps_fired"] == row["steps_fired"]) == ("transition", False)


def test_several_properties_and_short_walks(shell: Shell, tiny: str) -> None:
    properties = ("--property", "s-uniq", "--property", "S-CONS")
    ran = shell("simulate", tiny, *properties, "--steps", "5", "--walks", "10", "-o", "json")
    assert ran.code == 3
    assert [(r["property"], r["longest"], r["walks"]) for r in rows(ran.out)] == [
        ("S-UNIQ", 5, 10), ("S-CONS", 5, 10),
    ]  # fmt: skip


def test_with_a_time_limit_only_that_counts(shell: Shell, tiny: str) -> None:
    ran = shell("simulate", tiny, "--timeout", "1ms", "-o", "json")
    (row,) = rows(ran.out)
    assert (ran.code, row["max_walks"]) == (3, None)
    assert row["words"].startswith("Stopped by the time limit: no violation in ")


def test_what_only_endless_runs_violate_is_left_to_check(shell: Shell) -> None:
    ran = shell("simulate", "53647", "--release", "1.9.0")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "podrace: removed-node-blocks-pods asks for L-ISO, which no walk that ends can violate: "
        "name a safety property (S-...) with --property, or use `podrace check`\n"
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--walks", "0"), "--walks: `0` is no number of walks: write a number from 1 to "),
        (("--walks", "many"), "--walks: `many` is no number of walks"),
        (
            ("--steps", "10000001"),
            "--steps: `10000001` is no number of steps: write a number from 1 to 10,000,000",
        ),
        (("--steps", "-3"), "--steps: `-3` is no number of steps"),
        (("--seed", "18446744073709551616"), "is no seed: write a number from 0 to 2^64 - 1"),
        (("--seed", "x"), "--seed: `x` is no seed"),
        (("--timeout", "soon"), "--timeout: `soon` is not a duration"),
        (("--jobs", "0"), "--jobs: `0` is no number of threads"),
        (
            ("--property", "L-PEND"),
            "L-PEND is a liveness, and a walk that ends cannot violate it: use `podrace check`",
        ),
        (("--property", "S-CAPP"), "unknown property `S-CAPP`"),
        (("--with-fix", "1"), "unknown fix `1`"),
        (("--release", "9.9"), "unknown release `9.9`"),
        (("--by", "luck"), "luck"),
        (("--graph", "race.pdf"), "the ending must be .svg, .png or .dot"),
    ],
)
def test_complaints(shell: Shell, tiny: str, arguments: tuple[str, ...], complaint: str) -> None:
    ran = shell("simulate", tiny, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert complaint in ran.err
    assert ran.err.count("\n") == 1


def test_a_scenario_that_also_asks_for_more(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(TINY.replace("[S-CAP]", "[S-CAP, S-STUCK, L-ISO, L-PEND]"))
    ran = shell("simulate", str(file), "--walks", "5", "-o", "json")
    assert [(row["property"], row["notes"]) for row in rows(ran.out)] == [
        (name, ["left to `podrace check`, since no walk that ends violates it: L-ISO, L-PEND"])
        for name in ("S-CAP", "S-STUCK")
    ]


def test_without_a_name(shell: Shell) -> None:
    ran = shell("simulate")
    assert ran.code == 2
    assert "NAME|FILE" in ran.err


def test_a_property_of_ones_own(shell: Shell, tiny: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    ran = shell("simulate", tiny, "-P", str(file))
    assert ran.code == 1
    assert "MY-NONE VIOLATED" in ran.out
