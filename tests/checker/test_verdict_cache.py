"""Verdicts that are kept: used only if they are what a search gives, and executed again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from podrace.checker import verdict_cache as remembered
from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Result, Verdict
from podrace.checker.search import check
from podrace.checker.verdict_cache import VerdictCache
from podrace.model.language import TransitionSystem
from tests.checker.machines import Careless, house
from tests.profiles import examples
from tests.random_systems import systems

METHOD = {"engine": "reference"}


def searched(system: TransitionSystem, name: str, budget: Budget | None = None) -> Result:
    (result,) = check(system, [name], budget, engine="reference")
    return result


def names_of(system: TransitionSystem) -> list[str]:
    return [*system.invariants, *system.resettabilities, *system.livenesses]


@settings(max_examples=examples(25))
@given(systems(livenesses=1))
def test_what_is_kept_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, system: TransitionSystem
) -> None:
    cache = VerdictCache(tmp_path_factory.mktemp("cache"))
    for name in names_of(system):
        key = cache.key(system, name, METHOD)
        assert cache.get(key, system, name) is None
        result = searched(system, name)
        assert cache.put(key, result)
        assert cache.get(key, system, name) == result


@pytest.fixture(scope="module")
def violated(tmp_path_factory: pytest.TempPathFactory) -> tuple[VerdictCache, str, TransitionSystem, str]:
    """A cache with the violation of an invariant, in at least two steps."""

    system, name = house(Careless), "alone"
    cache = VerdictCache(tmp_path_factory.mktemp("cache"))
    key = cache.key(system, name, METHOD)
    cache.put(key, searched(system, name))
    return cache, key, system, name


Kept = tuple[VerdictCache, str, TransitionSystem, str]


def file_of(kept: Kept) -> Path:
    (path,) = kept[0].folder.rglob("*.json")
    return path


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b"VIOLATED", b"HOLDS..."),
        lambda data: data.replace(b'"format":1', b'"format":2'),
        lambda data: b"[" * 100_000,
        lambda data: b"\xff\xfe",
        lambda data: data + b" " * remembered.MOST_BYTES,
    ],
)
def test_a_damaged_entry_is_ignored(violated: Kept, damage: Any) -> None:
    cache, key, system, name = violated
    path, whole = file_of(violated), file_of(violated).read_bytes()
    assert cache.get(key, system, name) is not None
    assert damage(whole) != whole
    path.write_bytes(damage(whole))
    assert cache.get(key, system, name) is None
    path.write_bytes(whole)
    assert cache.get(key, system, name) is not None


def forged(kept: Kept, changes: dict[str, Any]) -> None:
    """Rewrite the entry, with a right hash."""
    path = file_of(kept)
    written = json.loads(path.read_bytes())
    entry = json.dumps({**json.loads(written["entry"]), **changes})
    path.write_text(json.dumps({**written, "entry": entry, "hash": remembered._hash(kept[1], entry)}))


@pytest.mark.parametrize(
    "changes",
    [
        {"run": {"path": [], "turn": None, "case": ""}},
        {"run": {"path": [10**6], "turn": None, "case": ""}},
        {"run": {"path": [-1], "turn": None, "case": ""}},
        {"run": None},
        {"verdict": "HOLDS"},
        {"verdict": "INCONCLUSIVE"},
        {"verdict": "HOLDS", "run": None, "stopped": "states"},
        {"property": "another"},
        {"coverage": {"witnesses_reached": {"another": 1}}},
    ],
)
def test_a_counterexample_that_is_none_is_ignored(violated: Kept, changes: dict[str, Any]) -> None:
    cache, key, system, name = violated
    whole = file_of(violated).read_bytes()
    forged(violated, {})
    assert cache.get(key, system, name) is not None  # the forger's hash is right
    forged(violated, changes)
    assert cache.get(key, system, name) is None
    file_of(violated).write_bytes(whole)


def test_the_key_is_about_all_that_decides(violated: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, key, system, name = violated
    keys = {
        key,
        cache.key(system, "another", METHOD),
        cache.key(system, name, {"engine": "native"}),
        cache.key(without_a_step(system), name, METHOD),
    }
    with monkeypatch.context() as patch:
        patch.setattr(remembered, "source_hash", lambda: "another source")
        keys.add(cache.key(system, name, METHOD))
    with monkeypatch.context() as patch:
        patch.setattr(remembered, "_version", lambda library: f"{library} 0")
        keys.add(cache.key(system, name, METHOD))
    assert len(keys) == 6
    assert cache.key(system, name, METHOD) == key


def without_a_step(system: TransitionSystem) -> TransitionSystem:
    """The same system with its last transition gone."""
    return replace(system, transitions=system.transitions[:-1])


def test_an_entry_under_another_key_is_ignored(violated: Kept) -> None:
    cache, _, system, name = violated
    other = cache.key(system, name, {"engine": "native"})
    target = cache.folder / other[:2] / f"{other}.json"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(file_of(violated).read_bytes())
    assert cache.get(other, system, name) is None
    target.unlink()


def test_nothing_undecided_is_kept(violated: Kept, tmp_path: Path) -> None:
    _, key, system, name = violated
    result = searched(system, name)
    cache = VerdictCache(tmp_path)
    assert not cache.put(key, replace(result, verdict=Verdict.INCONCLUSIVE, evidence=None, stopped="states"))
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_written_is_no_error(violated: Kept, tmp_path: Path) -> None:
    _, key, system, name = violated
    (tmp_path / "file").write_text("")
    assert not VerdictCache(tmp_path / "file").put(key, searched(system, name))
