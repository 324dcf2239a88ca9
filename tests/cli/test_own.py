"""Properties of the user's own, the fair flush, and vacuity, as the command line takes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.helpers import TINY, Shell

MINE = '''\
from podrace.model.language import Case, any_of
from podrace.properties import Property


class NobodyAssumed(Property):
    """No pod is ever assumed.

    More words.
    """

    id = "MY-NONE"

    def holds(self):
        return ~any_of(self.cache.is_assumed(p) for p in self.pods)


class QueueDrains(Property):
    """No pod stays in the queue indefinitely."""

    id = "MY-DRAIN"
    kind = "liveness"

    def cases(self):
        return [Case(f"{p.name} stays in the queue", self.queue.contains(p)) for p in self.pods]


class Untested(Property):
    """Nothing is amiss when a pod is being deleted."""

    id = "MY-VOID"

    def holds(self):
        return self.pods[0].index == 0

    def witnesses(self):
        return {"a pod is being deleted": any_of(self.api.pod[p].terminating for p in self.pods)}
'''


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "my.py"
    path.write_text(MINE)
    return path


def test_a_property_of_ones_own(shell: Shell, tiny: str, mine: Path) -> None:
    ran = shell("check", tiny, "-P", f"{mine}:NobodyAssumed", "-o", "json")
    assert ran.code == 1
    (row,) = json.loads(ran.out)
    assert (row["property"], row["verdict"], row["sentence"]) == (
        "MY-NONE",
        "VIOLATED",
        "No pod is ever assumed.",
    )


def test_all_of_a_file_or_one_by_its_identifier(shell: Shell, tiny: str, mine: Path) -> None:
    rows = json.loads(shell("check", tiny, "--properties", str(mine), "-o", "json").out)
    assert [r["property"] for r in rows] == ["MY-NONE", "MY-DRAIN", "MY-VOID"]
    ran = shell("check", tiny, "-P", str(mine), "--property", "my-drain")
    assert ran.code == 0
    assert "MY-DRAIN HOLDS" in ran.out


def test_what_nothing_tested_fails_if_asked_to(shell: Shell, tiny: str, mine: Path) -> None:
    ran = shell("check", tiny, "-P", f"{mine}:Untested")
    assert ran.code == 0
    assert "Vacuous" in ran.out
    assert shell("check", tiny, "-P", f"{mine}:Untested", "--fail-on-vacuous").code == 1
    assert shell("check", tiny, "-P", f"{mine}:QueueDrains", "--fail-on-vacuous").code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "there is no property in it: write a subclass of podrace.properties.Property"),
        ("x = (", "line 1: '(' was never closed"),
        ("import podrace\nnope", "line 2: NameError: name 'nope' is not defined"),
        (MINE.replace('    id = "MY-NONE"\n', ""), 'line 5: NobodyAssumed has no identifier: write `id = "MY-RULE"` in the class'),
        (MINE.replace("MY-NONE", "S-CAP"), "line 5: NobodyAssumed: `S-CAP` is a property of podrace: choose another `id`"),
        (MINE.replace("MY-NONE", "s-cap"), "line 5: NobodyAssumed: `S-CAP` is a property of podrace: choose another `id`"),
        (MINE.replace("MY-DRAIN", "my-None"), "line 17: QueueDrains: two properties have the id `MY-NONE`"),
        (MINE.replace("MY-DRAIN", "MY-NONE"), "line 17: QueueDrains: two properties have the id `MY-NONE`"),
        (MINE.replace('    """No pod stays in the queue indefinitely."""\n', ""), "line 17: QueueDrains has no docstring: say in one sentence what must hold"),
        (MINE.replace('"liveness"', '"often"'), "line 17: QueueDrains: `often` is no kind of property: use one of invariant, resettability, deadlock freedom, liveness"),
        (MINE.replace("def cases", "def holds"), "line 17: QueueDrains is of kind `liveness` and has no method `cases`"),
    ],
)  # fmt: skip
def test_mistakes_in_the_file(shell: Shell, tiny: str, mine: Path, text: str, message: str) -> None:
    mine.write_text(text)
    ran = shell("check", tiny, "-P", str(mine))
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err == f"podrace: --properties: {mine}: {message}\n"


def test_mistakes_in_a_predicate_name_the_property(shell: Shell, tiny: str, mine: Path) -> None:
    mine.write_text(MINE.replace("cache.is_assumed", "cache.is_asumed"))
    ran = shell("check", tiny, "-P", f"{mine}:NobodyAssumed")
    assert ran.code == 2
    assert ran.err.startswith(
        f"podrace: --properties: {mine}: line 14: MY-NONE cannot be built: Cache has no `is_asumed`; "
    )
    mine.write_text(MINE.replace("in self.pods)", "in 5)", 1))
    ran = shell("check", tiny, "-P", f"{mine}:NobodyAssumed")
    assert ran.err == (
        f"podrace: --properties: {mine}: line 14: MY-NONE cannot be built: TypeError: 'int' object is not iterable\n"
    )


def test_files_and_classes_that_are_not_there(shell: Shell, tiny: str, mine: Path) -> None:
    assert (
        shell("check", tiny, "-P", "nope.py").err == "podrace: --properties: nope.py: there is no such file\n"
    )
    ran = shell("check", tiny, "-P", f"{mine}:Untestd")
    assert ran.err.startswith(f"podrace: --properties: {mine}: there is no property class `Untestd` in it; ")


def test_properties_of_ones_own_are_explained(shell: Shell, mine: Path) -> None:
    ran = shell("properties", "my-none", "-P", str(mine))
    assert ran.code == 0
    assert [line.strip() for line in ran.out.splitlines()] == [
        "MY-NONE  invariant",
        "No pod is ever assumed.",
        "More words.",
    ]
    assert "MY-DRAIN" in shell("properties", "-P", str(mine)).out


def test_liveness_may_count_on_the_flush(shell: Shell, tiny: str, tmp_path: Path) -> None:
    ran = shell("check", tiny, "--property", "L-PEND", "--fair-flush")
    assert ran.code == 0
    assert "fair flush" in ran.out
    assert "fair flush" not in shell("check", tiny, "--property", "L-PEND").out
    other = tmp_path / "other.yaml"
    other.write_text(TINY + "scope: {flush: false}\n")
    ran = shell("check", str(other), "--property", "L-PEND", "--fair-flush")
    assert (ran.code, ran.err) == (
        2,
        "podrace: --fair-flush: tiny has no periodic flush (`flush: false` in its scope)\n",
    )
    other.write_text(TINY + "scope: {flush: false, fair_flush: true}\n")
    ran = shell("check", str(other))
    assert ran.code == 2
    assert "there is no flush to count on: remove `flush: false` or this" in ran.err


def test_a_lasso_in_every_form(shell: Shell, tmp_path: Path) -> None:
    graph = tmp_path / "lasso.dot"
    ran = shell("check", "53647", "--property", "L-PEND", "--graph", str(graph))
    assert ran.code == 1
    assert "indefinitely:" in ran.out
    assert "These act in every round: scheduler, failure handler of p, requeue goroutine of p." in ran.out
    assert "L-PEND: p waits indefinitely although it fits" in graph.read_text()
    (row,) = json.loads(shell("check", "53647", "--property", "L-PEND", "-o", "json").out)
    assert (len(row["trace"]), len(row["cycle"])) == (10, 8)
    assert row["lasso"] == {
        "case": "p waits indefinitely although it fits",
        "turn": 10,
        "cycle": 8,
        "acts": ["scheduler", "failure handler of p", "requeue goroutine of p"],
        "rests": [],
    }


def test_a_property_that_would_not_be_checked_is_refused(
    shell: Shell, tiny: str, mine: Path, tmp_path: Path
) -> None:
    ran = shell("check", tiny, "-P", f"{mine}:NobodyAssumed", "--property", "S-CAP")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"podrace: --properties: {mine}: --property leaves out MY-NONE: add --property MY-NONE, or take the file out\n"
    )
    assert shell("verify", "72259", "-P", f"{mine}:NobodyAssumed", "--property", "S-CAP").err == ran.err
    assert shell("check", tiny, "-P", str(mine), "--property", "S-CAP", "--property", "my-drain").code == 0


WATCHES = """\
from podrace.patching import Property, any_of, require


class Watches(Property):
    \"\"\"No pod is ever assumed.\"\"\"

    id = "MY-WATCH"

    def observe(self):
        for p in self.pods:
            {deed}

    def holds(self):
        return ~any_of(self.cache.is_assumed(p) for p in self.pods)
"""


@pytest.mark.parametrize(
    ("deed", "message"),
    [
        ("require(~self.cache.is_assumed(p))", "`require` is for steps: `observe` only looks, so write `with when(...)`"),
        ("self.cache.pod[p].assumed = False", "`observe` only looks: it cannot change `cache.pod[p].assumed`"),
    ],
)  # fmt: skip
def test_a_monitor_only_looks(shell: Shell, tiny: str, tmp_path: Path, deed: str, message: str) -> None:
    file = tmp_path / "watches.py"
    file.write_text(WATCHES.format(deed=deed))
    ran = shell("check", tiny, "-P", str(file))
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


ACTS = """\
from podrace.patching import Property, any_of, step


class Acts(Property):
    \"\"\"No pod is ever assumed.\"\"\"

    id = "MY-ACT"

    {deed}
        for p in self.pods:
            self.api.pod[p].terminating = True

    def holds(self):
        return ~any_of(self.cache.is_assumed(p) for p in self.pods)
"""


@pytest.mark.parametrize(
    ("deed", "message"),
    [
        ("def setup(self):", "`setup` of a property says how its own state begins: it cannot change `api.pod[p].terminating`"),
        (
            '@step(actor="me")\n    def go(self) -> None:',
            "`go` is a step, and a property only looks: write it into a patch, a class derived from a part",
        ),
    ],
)  # fmt: skip
def test_a_property_adds_nothing_to_what_happens(
    shell: Shell, tiny: str, tmp_path: Path, deed: str, message: str
) -> None:
    file = tmp_path / "acts.py"
    file.write_text(ACTS.format(deed=deed))
    ran = shell("check", tiny, "-P", str(file))
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1
