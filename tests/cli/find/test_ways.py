"""`podrace ways`: the two ways that 72259 left open, and all that is said and refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from podrace.reports.formats.json_schema import schema_of
from tests.cli.helpers import MINE, TINY, Shell, flat
from tests.reports.standards import assert_matches

pytestmark = pytest.mark.usefixtures("searched_once")

LEFT_OPEN = ("ways", "72124", "--with-fix", "72259", "--property", "S-NOM", "-j", "1")
TWO_WAYS = ("ways", "live-read-removes-node")
"""A race with two ways as well, in few states."""

PAGE = (Path(__file__).parents[3] / "docs" / "counterexamples.md").read_text(encoding="utf-8")

ALL_TAKE = (
    "scheduler.pop, scheduler.take_snapshot, scheduler.filter, scheduler.fail, failure.patch, scheduler.reread_preemptor, "
    "scheduler.dry_run, scheduler.choose_candidate, scheduler.nominate, scheduler.write_nomination(ok=True), "
    "scheduler.evict(ok=True), handlers.handle_for_cache, scheduler.assume"
)

OTHERS = (("handlers.handle_for_queue", "handlers.update_queue"), ("failure.live_get", "failure.add_fetched"))


@pytest.mark.ci
def test_both_ways_that_72259_left_open_and_no_other(shell: Shell, tmp_path: Path) -> None:
    """An old update that is handled late, and the requeue goroutine with an old object."""
    ran = shell(*LEFT_OPEN, "--save-trace", str(tmp_path / "way.json"), "--graph", str(tmp_path / "way.dot"))
    assert ran.code == 1
    out = flat(ran.out)
    assert out.startswith("nominated-node-race, 1.13.0 + 72259: S-NOM VIOLATED ")
    for number, own in enumerate(OTHERS, 1):
        assert f"Way {number} of 2 takes, as not every way does: {', '.join(own)} " in out
    assert (
        f"Every way takes: {ALL_TAKE}. There is no other: every run that violates S-NOM takes all kinds of steps of one of "
        in out
    )
    assert (
        "of one of these 2 ways (38 explorations, 233,020 states). Within these constraints, which were hit: "
        "pod_watch.log holds at most 4; one requeue goroutine per pod. ("
    ) in out
    assert "one of these 2 ways (38 explorations, 233,020 states)." in PAGE
    assert ran.out.count("The scheduler assumes q on n1: in its cache the pod is there already.") == 2
    for name in ("way.json", "way-2.json"):
        again = shell("replay", str(tmp_path / name))
        assert (again.code, "Violated by a stored run of 18 steps, executed again." in again.out) == (0, True)
    assert [(tmp_path / name).read_text().startswith("digraph") for name in ("way.dot", "way-2.dot")] == [
        True,
        True,
    ]


@pytest.mark.nightly
def test_neither_of_the_two_other_fixes_is_enough_by_itself(shell: Shell) -> None:
    """90660 takes the goroutine away; then the update still comes late, once the pod is back in the queue."""
    (row,) = json.loads(shell(*LEFT_OPEN, "--with-fix", "77990", "-o", "json").out)
    assert (row["complete"], [tuple(way["own"]) for way in row["ways"]]) == (True, [*OTHERS])
    (row,) = json.loads(shell(*LEFT_OPEN, "--with-fix", "90660", "-o", "json").out)
    assert (row["complete"], len(row["ways"]), len(row["ways"][0]["finding"]["trace"])) == (True, 1, 20)
    assert {"failure.read", "failure.requeue", *OTHERS[0]} <= set(row["common"])


@pytest.mark.ci
def test_json_says_all_of_it_and_is_as_its_schema_says(shell: Shell) -> None:
    rows = json.loads(shell(*LEFT_OPEN, "-o", "json").out)
    assert_matches(schema_of("ways"), rows)
    (row,) = rows
    assert row["fixes"] == {"added": ["72259"], "removed": []}
    assert (row["searches"], row["states"], row["seconds"]) == (38, 233_020, None)
    assert tuple(row["common"]) == tuple(ALL_TAKE.split(", "))
    assert [tuple(way["own"]) for way in row["ways"]] == [*OTHERS]
    for way in row["ways"]:
        assert (way["finding"]["verdict"], len(way["finding"]["trace"])) == ("VIOLATED", 18)
        assert set(way["kinds"]) == {*row["common"], *way["own"]}


def test_other_forms_show_each_way_as_a_counterexample(shell: Shell) -> None:
    ran = shell(*TWO_WAYS, "-o", "junit")
    assert (ran.code, ran.out.count("<failure ")) == (1, 2)
    assert (
        "Way 2 of 2, 11 steps. It takes, as not every way does: handlers.handle_node, users.create_node."
        in ran.out
    )


def test_more_than_are_asked_for(shell: Shell) -> None:
    ran = shell(*TWO_WAYS, "--most", "1")
    assert ran.code == 1
    assert (
        "There are more ways than these: allow more with --most, which was 1 (13 explorations, 726 states)."
        in flat(ran.out)
    )
    assert "Way 1 of 1" in ran.out


def test_no_way(shell: Shell, tiny: str) -> None:
    ran = shell("ways", tiny, "--graph", str(Path(tiny).parent / "x.dot"))
    assert ran.code == 0
    assert flat(ran.out).startswith(
        "tiny, 1.19.0: S-CAP HOLDS One pod, one node Property S-CAP: The requests of"
    )
    assert (
        "No run violates S-CAP (1 exploration, 1 state): `podrace check` says whether anything put it to the test."
        in flat(ran.out)
    )
    assert "no counterexample to draw" in ran.err


@pytest.mark.ci
def test_a_budget_that_runs_out(shell: Shell) -> None:
    ran = shell(*LEFT_OPEN, "--max-states", "50")
    assert ran.code == 3
    assert "There may be some way: a search ran out of its states (--max-states) (1 exploration, " in flat(
        ran.out
    )
    some = shell(*LEFT_OPEN, "--max-states", "4000", "-o", "json")
    (row,) = json.loads(some.out)
    assert (some.code, row["complete"], len(row["ways"])) == (1, False, 2)
    assert "There may be more ways: a search ran out of its states (--max-states) (" in row["words"]


def test_one_that_is_undecided_is_no_success(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(TINY.replace("[S-CAP]", "[S-CAP, S-UNIQ]"))
    ran = shell("ways", str(file), "--max-states", "5", "-o", "json")
    assert (ran.code, [row["verdict"] for row in json.loads(ran.out)]) == (3, ["HOLDS", "INCONCLUSIVE"])
    worse = shell("ways", str(file), "--max-states", "5", "--property", "S-UNIQ", "--property", "S-CAP")
    assert worse.code == 3


def test_properties_of_ones_own_and_patches(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "tiny.yaml").write_text(TINY)
    ran = shell("ways", str(tmp_path / "tiny.yaml"), "-P", str(tmp_path / "mine.py"), "--property", "MY-NONE")
    assert ran.code == 1
    assert (
        "Every way takes: scheduler.pop, scheduler.take_snapshot, scheduler.filter, scheduler.assume."
        in flat(ran.out)
    )
    assert "takes all kinds of steps of this way (" in flat(ran.out)


MANY = TINY.replace("[S-CAP]", "[S-CAP, L-PEND, S-UNIQ, S-COND]") + "ignore: {S-COND: known}\n"


def test_what_cannot_be_asked_is_left_out_and_said(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "many.yaml"
    file.write_text(MANY)
    ran = shell("ways", str(file), "-o", "json")
    rows: list[dict[str, Any]] = json.loads(ran.out)
    assert [row["property"] for row in rows] == ["S-CAP", "S-UNIQ"]
    assert ran.err.splitlines() == [
        "L-PEND of tiny is left out: no run that ends violates a liveness",
        "S-COND of tiny: Ignored, not looked at: known.",
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--property", "L-PEND"), "L-PEND of tiny is a liveness, which no run that ends violates: name a safety property (S-...) with --property"),
        (("--property", "S-COND"), "nothing would be looked at, for all is ignored (S-COND: known): name another property"),
        (("--most", "0"), "Invalid value for '--most'"),
        (("--property", "S-NOPE"), "unknown property `S-NOPE`"),
    ],
)  # fmt: skip
def test_mistakes(shell: Shell, tmp_path: Path, arguments: tuple[str, ...], complaint: str) -> None:
    file = tmp_path / "many.yaml"
    file.write_text(MANY)
    ran = shell("ways", str(file), *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert complaint in flat(ran.err)
    assert "Traceback" not in ran.err


def test_a_scenario_with_only_what_never_ends(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "never.yaml"
    file.write_text(TINY.replace("[S-CAP]", "[L-PEND]"))
    ran = shell("ways", str(file))
    assert ran.code == 2
    assert ran.err.endswith(
        "podrace: nothing is asked that a run that ends violates: name a safety property (S-...) with --property\n"
    )
