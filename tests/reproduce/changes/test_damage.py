"""Lines that can be damaged, one by one, in one text."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from podrace.analysis.request.method import NOBODY
from podrace.checker.core.exploration import Budget
from podrace.reproduce.changes import damaging, judge
from podrace.reproduce.changes.damage import damageable, damaged_texts, neighbours, unexercised
from podrace.reproduce.changes.damaging import MOST, Damage, Played, _telling
from podrace.reproduce.changes.functions import WhatChanged
from podrace.reproduce.changes.judge import Effort, Judging
from podrace.reproduce.changes.lines import NOTHING, ChangedLine, Counted
from podrace.reproduce.changes.sources import Change
from podrace.reproduce.changes.texts import FileChange
from podrace.reproduce.modules.module import KubernetesVersion, parse_version
from podrace.reproduce.modules.toolchain import BuildProblem
from podrace.reproduce.running import Built

PATH = "pkg/scheduler/a.go"
TEXT = """\
package scheduler

func F(x int) error {
	if x > 0 {
		logger.Info("x")
		first(x)
	}
	y := x
	return second(y)
}
"""


@pytest.mark.parametrize(
    ("line", "damaged"),
    [
        ("\tif x > 0 {", '\tif (podraceDamaged == "1") != (x > 0) {'),
        ("\t} else if ok := f(); ok {", '\t} else if ok := f(); (podraceDamaged == "1") != (ok) {'),
        ("\tc.remove(a, b[0])", '\tif podraceDamaged != "1" { c.remove(a, b[0]) }'),
        ("\tdefer m.f(time.Now())()", '\tif podraceDamaged != "1" { defer m.f(time.Now())() }'),
        ("\ta[i], err = f(x)", '\tif podraceDamaged != "1" { a[i], err = f(x) }'),
        ("\tn++", '\tif podraceDamaged != "1" { n++ }'),
        ("\tcontinue", '\tif podraceDamaged != "1" { continue }'),
        ("\treturn // it was never nominated", '\tif podraceDamaged != "1" { return }'),
        ('\ta = "//" // why', '\tif podraceDamaged != "1" { a = "//" }'),
        ("\tif x { // why", '\tif (podraceDamaged == "1") != (x) {'),
        ("\ty := f(x)", None),
        ("\treturn f(x)", None),
        ("\tf(x) && g(y)", None),
        ("\tf(x,", None),
        ("\tg(x),", None),
        ("\tfor _, x := range xs {", None),
        ("\tgo func() {", None),
        ("\t}", None),
    ],
)
def test_a_line(line: str, damaged: str | None) -> None:
    assert damageable(line, 1) == damaged


@pytest.mark.parametrize(
    ("text", "types", "others"),
    [
        ("return f(x)", ["T", "error"], "*new(T), *new(error)"),
        ("return p.name, nil // why", ["string", "error"], "*new(string), *new(error)"),
        ("return nil, err", ["* fwk . PodInfo", "error"], "*new(* fwk . PodInfo), *new(error)"),
        ("return a.Has(x) && b", ["bool"], "!(a . Has ( x ) && b)"),
        ("return nil, false", ["* T", "bool"], "*new(* T), !(false)"),
        ("return", ["error"], "*new(error)"),
        ("return nil", ["error"], "podraceDamagedError"),
        ("return nil", ["* fwk . Status"], " fwk . AsStatus(podraceDamagedError)"),
        ("return nil, nil", ["* T", "[ ] T"], "new( T), *new([ ] T)"),
        ('return "", 0', ["string", "int64"], '"podrace", 1'),
        ("return a &&", ["bool"], "*new(bool)"),
        ("return f(a,", ["bool", "error"], "*new(bool), *new(error)"),
    ],
)
def test_what_is_returned(text: str, types: list[str], others: str) -> None:
    """The zero values of its types, where those are not what is returned anyway; and of a `bool` the other one."""
    code = text.partition(" //")[0]
    expected = f'\tif podraceDamaged == "1" {{ return {others} }}; {code}'
    assert damageable(f"\t{text}", 1, types) == expected


def test_nothing_else_can_be_returned() -> None:
    """Then it goes on, which does not compile at the end of a function."""
    assert damageable("\treturn nil", 1, ["[ ] T"]) == '\tif podraceDamaged != "1" { return nil }'
    assert damageable("\treturn 1", 1, []) is None, "its function is not known"


def line(number: int, removed: bool = False) -> ChangedLine:
    return ChangedLine(PATH, number, (number, 1), removed)


def test_a_text() -> None:
    logs = ChangedLine(PATH, 5, (5, 1), aside=True)
    texts, numbered = damaged_texts({PATH: TEXT}, [*(line(n) for n in (4, 6, 8, 9)), logs])
    assert numbered == {1: line(4), 2: line(6), 3: line(9)}
    assert texts[PATH].splitlines()[3:9] == [
        '\tif (podraceDamaged == "1") != (x > 0) {',
        '\t\tlogger.Info("x")',
        '\t\tif podraceDamaged != "2" { first(x) }',
        "\t}",
        "\ty := x",
        '\tif podraceDamaged == "3" { return *new(error) }; return second(y)',
    ]
    assert texts["pkg/scheduler/podrace_damaged.go"] == (
        'package scheduler\n\nimport (\n\t"errors"\n\t"os"\n)\n\nvar (\n\tpodraceDamaged = os.Getenv("PODRACE_DAMAGED")\n'
        '\tpodraceDamagedError = errors.New("podrace damaged a line")\n)\n'
    )


def test_what_nothing_depends_on() -> None:
    lines, tried = [line(n) for n in (4, 5, 6, 20)], frozenset({line(4), line(6)})
    told = frozenset({line(5)})
    assert unexercised(lines, frozenset({line(4), line(6)}), tried, told) == [line(20)]
    assert unexercised(lines[:3], frozenset({line(4)}), tried, told) == [line(6)]
    assert unexercised(lines[:3], tried, tried, told) == []
    assert unexercised([line(5)], frozenset(), frozenset(), told) == []
    pair, jump = [line(4), line(6)], frozenset({line(6)})
    assert unexercised(pair, frozenset({line(4)}), tried, told, jump) == [], "a jump may only have saved work"
    assert unexercised(pair, frozenset(), tried, told, jump) == pair
    assert unexercised([line(6)], frozenset(), tried, told, jump) == [line(6)]


def test_a_switch_counts_with_what_its_second_case_does() -> None:
    """An `if` with `else if` rewritten as a `switch`, which cannot be damaged; the lines of `case` are no statements, and between."""
    switch, assigned = (ChangedLine("a.go", number, (number, 2)) for number in (79, 83))
    assert neighbours([switch, assigned]) == [[switch, assigned]]
    none = frozenset[ChangedLine]()
    assert unexercised([switch, assigned], frozenset({assigned}), frozenset({assigned}), none) == []
    assert unexercised([switch, assigned], none, frozenset({assigned}), none) == [assigned]


def test_runs_that_execute_most_of_the_change_are_looked_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """That a list is empty and deleted too soon shows only where it had two entries, which few runs do: those that execute the other branch."""
    few, all_of_them = (Counted(frozenset(), frozenset(map(line, numbers))) for numbers in ((4,), (4, 6)))
    played = [Played((), ((), (number,)), (NOTHING, few)) for number in range(MOST)]
    played.append(Played((), ((), (MOST,)), (NOTHING, all_of_them)))

    def seen(_built: Built, one: Played, number: int) -> tuple[object, ...]:
        return one.seen[1] if one.counted[1] is few or not number else ("damaged",)

    monkeypatch.setattr(damaging, "_seen", seen)
    damage = Damage(None, (), (), None, None)  # type: ignore[arg-type]
    assert damage._shows(Built(parse_version("1.36.3"), Path(), {}), 1, line(4), _telling(line(4), played))


KINDS = ("nominatedPods", "podStates")


@pytest.mark.parametrize(
    ("after", "damaged", "unsteady", "kept"),
    [
        ({}, KINDS[:1], "", True),
        ({"podStates": "other"}, KINDS[:1], "", True),
        ({"podStates": "other"}, KINDS, "", False),
        ({"nominatedPods": "other"}, KINDS[:1], "", False),
        ({}, KINDS[:1], "before", False),
        ({}, KINDS, "before", True),
        ({}, KINDS[:1], "damaged", False),
    ],
)
def test_damage_that_only_memory_shows(
    monkeypatch: pytest.MonkeyPatch,
    after: dict[str, str],
    damaged: tuple[str, ...],
    unsteady: str,
    kept: bool,
) -> None:
    """It counts if the code before and after the change keeps the same of that kind in all runs, twice, and nothing else of another kind that is damaged."""
    numbers = count()

    def replayed(built: Built, cases: list[SimpleNamespace], _lines: object, number: int, *, keeps: bool):
        assert keeps
        found = dict.fromkeys(KINDS, "whole")
        if built.folder.name == "after":
            found |= after
        if number:
            found |= dict.fromkeys(damaged, "an empty list is left")
        if unsteady == ("damaged" if number else built.folder.name):
            found["nominatedPods"] = str(next(numbers))
        return {case.id: SimpleNamespace(keeps=found) for case in cases}, NOTHING

    monkeypatch.setattr(damaging, "replayed_at_once", replayed)
    version = parse_version("1.36.3")
    both = [Built(version, Path(name), {}) for name in ("before", "after")]
    damage = Damage(None, (), (), None, None, both)  # type: ignore[arg-type]
    some = Counted(frozenset(), frozenset({line(4)}))
    played = [Played([SimpleNamespace(id=name, steps=())], ((), (1,)), (NOTHING, some)) for name in "ab"]  # type: ignore[list-item]
    assert damage._is_kept(Built(version, Path("damageable"), {}), 1, played) is kept


def test_two_runs_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question has several counterexamples, and each is a run of its own; no damage shows in any."""

    def replayed(_built: Built, cases: list[SimpleNamespace], _lines: object, _number: int, *, keeps: bool):
        assert keeps
        return {case.id: SimpleNamespace(keeps={"podStates": str(case.steps)}) for case in cases}, NOTHING

    monkeypatch.setattr(damaging, "replayed_at_once", replayed)
    version = parse_version("1.36.3")
    both = [Built(version, Path(name), {}) for name in ("before", "after")]
    damage = Damage(None, (), (), None, None, both)  # type: ignore[arg-type]
    some = Counted(frozenset(), frozenset({line(4)}))
    played = [
        Played([SimpleNamespace(id="a", steps=range(n))], ((), (1,)), (NOTHING, some))  # type: ignore[list-item]
        for n in range(2)
    ]
    assert not damage._is_kept(Built(version, Path("damageable"), {}), 1, played)


@pytest.mark.parametrize("compiles", [True, False])
def test_the_changed_code_is_built_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, compiles: bool
) -> None:
    """So that its lines can be damaged, and as it is only if that does not compile."""
    built: list[tuple[str, tuple[str, ...]]] = []
    said: list[str] = []

    def build(
        version: KubernetesVersion, _go: object, _say: object, counted: tuple[str, ...] = (), what: str = ""
    ):
        assert version.tree is not None
        said.append(what)
        text = (version.tree / PATH).read_text(encoding="utf-8")
        built.append((text, tuple(counted)))
        if "podraceDamaged" in text and not compiles:
            raise BuildProblem("it does not compile", "")
        return Built(version, tmp_path / f"built-{len(built)}", {})

    monkeypatch.setenv("PODRACE_CACHE", str(tmp_path / "cache"))
    for module in (damaging, judge):
        monkeypatch.setattr(module, "built_for", build)
        monkeypatch.setattr(module, "taken", lambda one: one)
    base = tmp_path / "base" / "pkg" / "scheduler"
    base.mkdir(parents=True)
    (base / "a.go").write_text(TEXT.replace("x > 0", "x >= 1"), encoding="utf-8")
    files = (FileChange(PATH, TEXT.replace("x > 0", "x >= 1"), TEXT),)
    change = Change("x", parse_version("1.36.3"), files, tmp_path / "base")
    judging = Judging(change, WhatChanged((), (), files), Effort(Budget()), None, lambda _: None)  # type: ignore[arg-type]
    changed = judging._changed()
    assert changed.folder.name == ("built-1" if compiles else "built-2")
    assert built[-1] == (
        TEXT.replace("x > 0", '(podraceDamaged == "1") != (x > 0)') if compiles else TEXT,
        ("k8s.io/kubernetes/pkg/scheduler/...",),
    )
    assert said == [
        "v1.36.3 with the change, so that its lines can be damaged",
        *([] if compiles else ["v1.36.3 with x"]),
    ]
    judging.damage._side(removed=False)
    assert len(built) == (1 if compiles else 2)


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        (f"../x/{PATH}:9:31: T is not a type", {9}),
        (f"{PATH}:9:31: T is not a type", {9}),
        (f"../x/{PATH}:10:1: missing return", {9}),
        (f"../x/{PATH}:8:1: missing return", {6}),
        (f"../x/{PATH}:10:1: T is not a type", set()),
        (f"../x/{PATH}:3:1: missing return", set()),
        ("../x/pkg/scheduler/aa.go:9:1: T is not a type", set()),
    ],
)
def test_lines_that_the_compiler_refuses(said: str, refused: set[int]) -> None:
    """It names the end of a function in which a `return` is missing."""
    lines = [line(4), line(6), line(9)]
    assert {one.number for one in damaging.refused_in(f"# k8s.io/x\n{said}\n", lines)} == refused


@pytest.mark.parametrize("named", [9, 0])
def test_a_return_that_cannot_be_damaged_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: int
) -> None:
    """The others are damaged without it; where the compiler names none of them, none is damaged."""
    built: list[str] = []

    def build(
        version: KubernetesVersion, _go: object, _say: object, _counted: tuple[str, ...] = (), _what: str = ""
    ):
        assert version.tree is not None
        built.append((version.tree / PATH).read_text(encoding="utf-8"))
        if "*new(error)" in built[-1]:
            raise BuildProblem("", f"# k8s.io/x\n../sources/{PATH}:{named}:31: T is not a type\n")
        return Built(version, tmp_path / f"built-{len(built)}", {})

    monkeypatch.setenv("PODRACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(damaging, "built_for", build)
    monkeypatch.setattr(damaging, "taken", lambda one: one)
    (tmp_path / "base").mkdir()
    lines = [line(4), line(6), line(9)]
    files = (FileChange(PATH, None, TEXT),)
    change = Change("x", parse_version("1.36.3"), files, tmp_path / "base")
    damage = Damage(change, files, lines, None, NOBODY)  # type: ignore[arg-type]
    side = damage._side(removed=False)
    assert (side.built is not None, len(built)) == ((True, 2) if named else (False, 1))
    damage.looked |= set(lines)
    damage.shown |= set(lines[:2])
    executed = Counted(frozenset(lines), frozenset(lines))
    assert damage.said_of(executed) == ([] if named else lines[:2], [line(9)], [])
