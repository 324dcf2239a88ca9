"""Verdicts that are kept: used only if they are what a search gives, and executed again."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from podrace.checker import verdict_cache as remembered
from podrace.checker.core.exploration import Budget
from podrace.checker.core.kept import MOST_BYTES
from podrace.checker.core.result import Result, Verdict
from podrace.checker.core.signing import signature
from podrace.checker.search import check
from podrace.checker.verdict_cache import VerdictCache
from podrace.model.language import TransitionSystem
from tests.checker.explicit.systems import counting
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
        lambda data: data.replace(b'"format":2', b'"format":3'),
        lambda data: data.replace(b'"signature":"', b'"signature":"00'),
        lambda data: b"[" * 100_000,
        lambda data: b"\xff\xfe",
        lambda data: data + b" " * MOST_BYTES,
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
    """Rewrite the entry, with a right signature."""
    path = file_of(kept)
    written = json.loads(path.read_bytes())
    entry = json.dumps({**json.loads(written["entry"]), **changes})
    signed = signature("verdict", kept[1].encode(), entry.encode())
    assert signed is not None
    path.write_text(json.dumps({**written, "entry": entry, "signature": signed.hex()}))


def test_a_verdict_that_was_not_made_here_is_ignored(
    violated: Kept, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A complete entry, from whoever has another key, or none."""
    cache, key, system, name = violated
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert cache.get(key, system, name) is None
    monkeypatch.setenv("PODRACE_KEY", "a secret of sixteen")
    assert cache.get(key, system, name) is None


def test_a_holds_that_somebody_wrote_is_ignored(violated: Kept) -> None:
    """A search's answer but for the verdict, with the digest that used to be enough."""
    cache, key, system, name = violated
    whole = file_of(violated).read_bytes()
    written = json.loads(whole)
    entry = json.dumps({**json.loads(written["entry"]), "verdict": "HOLDS", "run": None, "stopped": None})
    digest = hashlib.sha256(f"{key}\n{entry}".encode()).hexdigest()
    for claimed in (digest, written["signature"], "", "not hexadecimal"):
        file_of(violated).write_text(json.dumps({**written, "entry": entry, "signature": claimed}))
        assert cache.get(key, system, name) is None
    old = {"format": 1, "key": key, "hash": digest, "entry": entry}
    file_of(violated).write_text(json.dumps(old))
    assert cache.get(key, system, name) is None
    file_of(violated).write_bytes(whole)


def test_a_directory_of_others_is_passed_over(violated: Kept) -> None:
    cache, key, system, name = violated
    for mode in (0o770, 0o707):
        cache.folder.chmod(mode)
        assert cache.get(key, system, name) is None
        assert not cache.put(key, searched(system, name))
    cache.folder.chmod(0o755)
    assert cache.get(key, system, name) is not None


def test_no_verdict_is_written_through_a_link(violated: Kept, tmp_path: Path) -> None:
    _, key, system, name = violated
    (tmp_path / "kept").mkdir(mode=0o700)
    (tmp_path / "outside").mkdir()
    (tmp_path / "kept" / key[:2]).symlink_to(tmp_path / "outside")
    assert not VerdictCache(tmp_path / "kept").put(key, searched(system, name))
    assert list((tmp_path / "outside").iterdir()) == []


def test_nobody_else_can_write_where_verdicts_are_kept(violated: Kept, tmp_path: Path) -> None:
    _, key, system, name = violated
    before = os.umask(0)
    try:
        assert VerdictCache(tmp_path / "kept").put(key, searched(system, name))
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "kept", tmp_path / "kept" / key[:2])}
    assert modes == {0o700}


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
    assert cache.get(key, system, name) is not None  # the forger's signature is right
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
    assert not cache.put(key, replace(result, verdict=Verdict.INCONCLUSIVE, trace=None, stopped="states"))
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_written_is_no_error(violated: Kept, tmp_path: Path) -> None:
    _, key, system, name = violated
    (tmp_path / "file").write_text("")
    assert not VerdictCache(tmp_path / "file").put(key, searched(system, name))


def test_a_verdict_whose_steps_were_taken_once_comes_back(tmp_path: Path) -> None:
    cache, system = VerdictCache(tmp_path), counting(1, invariants={"low": lambda value: value < 1})
    result = searched(system, "low")
    assert 1 in result.coverage.fired.values()
    key = cache.key(system, "low", METHOD)
    assert cache.put(key, result)
    assert cache.get(key, system, "low") == result
