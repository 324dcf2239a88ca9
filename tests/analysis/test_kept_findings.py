"""Findings that are kept whole: the same finding again, and nothing kept where another one could come out."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import cache_from_source
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import pytest

from podrace.analysis import chain, kept_findings
from podrace.analysis.chain import FROM_CACHE, verdict_on
from podrace.analysis.kept_findings import FOLDERS, KeptFinding, sources, told
from podrace.analysis.request.method import Method
from podrace.analysis.request.patches import patches_of
from podrace.analysis.request.plan import Run, Selection, plan
from podrace.checker.core.exploration import Budget
from podrace.checker.core.own_files import digest
from podrace.model.environment.objects import Node, Pod
from podrace.scenarios import parse_scenario
from tests.cli.helpers import TINY

RACE = ("72124", "S-NOMVIS")
BUDGET = Budget(jobs=1)


@pytest.fixture(autouse=True)
def nothing_was_changed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whoever works on podrace changes files shortly before the tests."""
    monkeypatch.setattr(kept_findings, "BEGUN", time.time_ns() + (1 << 60))
    sources.cache_clear()
    yield
    sources.cache_clear()


def run_of(name: str, identifier: str, **asked: Any) -> Run:
    (run,) = plan(Selection((name,), properties=(identifier,), **asked))
    return run


def not_built(*arguments: object) -> None:
    raise AssertionError("a system was built")


def key(run: Run, folder: Path, budget: Budget = BUDGET, engine: Any = "native") -> str:
    return KeptFinding(run, budget, Method(engine, folder, whole_findings=True)).key


def test_with_scales_of_time_a_run_has_a_key_of_its_own(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = [{}, {"time": "any"}, {"time": "scales"}, {"slow": ["pod informer"]}]
    keys = [key(run_of("gone-victim", "S-STUCK", release="1.36.3", **one), tmp_path) for one in asked]
    assert keys[0] == keys[1] != ""
    assert len(set(keys)) == 3


@pytest.mark.parametrize(("name", "identifier"), [RACE, ("53647", "L-ISO"), ("53647", "S-ERR")])
def test_the_second_time_no_system_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, identifier: str
) -> None:
    method = Method(cache=tmp_path / "kept", whole_findings=True)
    run = run_of(name, identifier)
    first = verdict_on(run, BUDGET, method)
    monkeypatch.setattr(chain, "system_of", not_built)
    second = verdict_on(run, BUDGET, method)
    assert second == msgspec.structs.replace(first, notes=(*first.notes, FROM_CACHE))
    with pytest.raises(AssertionError, match="a system was built"):
        verdict_on(run, BUDGET, Method(cache=tmp_path / "kept"))


def test_a_verdict_from_the_other_cache_is_kept_without_its_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(*RACE)
    first = verdict_on(run, BUDGET, Method(cache=tmp_path))
    assert FROM_CACHE not in first.notes
    for _ in range(2):
        found = verdict_on(run, BUDGET, Method(cache=tmp_path, whole_findings=True))
        assert found.notes.count(FROM_CACHE) == 1
        monkeypatch.setattr(chain, "system_of", not_built)


def test_what_decides_a_finding_is_in_its_key(tmp_path: Path) -> None:
    run = run_of(*RACE)
    spec = run.scenario.spec
    pods = (spec.pods[0].with_cpu(1, 0, None), *spec.pods[1:])
    nodes = tuple(node.with_cpu(9) for node in spec.nodes)
    others = [
        replace(run, scenario=replace(run.scenario, spec=changed))
        for changed in (
            replace(spec, pods=pods),
            replace(spec, nodes=nodes),
            replace(spec, scope=replace(spec.scope, bind_failures=spec.scope.bind_failures + 1)),
            replace(spec, scope=replace(spec.scope, config=replace(spec.scope.config, scored=True))),
            replace(spec, name="another"),
        )
    ]
    others += [
        replace(run, remark="said beside it"),
        replace(run, expected="HOLDS"),
        replace(run, scenario=replace(run.scenario, silenced={"S-NOMVIS": {"p": "known"}})),
        run_of("72124", "S-NOM"),
        run_of(*RACE, release="1.12.0"),
        run_of(*RACE, with_fixes=("72259",)),
    ]
    keys = [key(one, tmp_path) for one in (run, *others)]
    keys += [key(run, tmp_path, Budget(jobs=1, max_states=5)), key(run, tmp_path, engine="reference")]
    assert "" not in keys
    assert len(set(keys)) == len(keys)
    assert key(run_of(*RACE), tmp_path / "elsewhere") == keys[0]
    assert key(run, tmp_path, Budget(jobs=2, timeout=5.0, max_memory=1 << 30)) == keys[0]


def test_what_cannot_be_told_apart_has_no_key(tmp_path: Path) -> None:
    own = tmp_path / "mine.py"
    own.write_text(
        "from podrace.model.scheduler.queue.nominator import Nominator\n\n\n"
        "class Mine(Nominator):\n    def has_object(self, pod):\n        return ~super().has_object(pod)\n"
    )
    run = run_of(*RACE)
    ranged = parse_scenario(TINY.replace("cpu: 1", "cpu: 1..2", 1), "ranged.yaml")
    assert key(run, tmp_path) != ""
    assert key(replace(run, own=run.prop), tmp_path) == ""
    patched = run_of(*RACE, patches=patches_of([str(own)]))
    assert key(patched, tmp_path) == ""
    assert ranged.open
    assert key(replace(run, scenario=ranged), tmp_path) == ""
    assert KeptFinding(run, BUDGET, Method(cache=tmp_path)).key == ""
    assert KeptFinding(run, BUDGET, Method(whole_findings=True)).key == ""


def test_values_that_differ_are_told_differently() -> None:
    class Pretender(Pod):
        """No class of podrace's."""

    node = Node(0, "n", 1)
    values: list[object] = [
        1, True, "1", 1.0, None, "None", (), [], {}, frozenset(), (1,), [1], (1, 1), {"a": 1}, {"a": "1"}, {1: "a"},
        {"a": 1, "b": 2}, {"b": 2, "a": 1}, node, Node(0, "n", 2), Node(1, "n", 1), Node(0, "n", 1, exists=False),
        Pod(0, "n", 1), Pod(0, "n", 1, node=node), Pod, Node, ("a", "b"), ("a, b",), frozenset("ab"),
    ]  # fmt: skip
    texts = [json.dumps(told(value)) for value in values]
    assert len(set(texts)) == len(values)
    assert told(MappingProxyType({"a": 1})) == told({"a": 1})
    assert told(frozenset("abc")) == told(frozenset("cba"))
    for unknown in (Pretender(0, "n", 1), Pretender, Path, lambda: 1, object(), b"1", iter(())):
        with pytest.raises(TypeError):
            told(unknown)


def test_a_class_that_was_put_in_the_place_of_another_is_not_taken_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import podrace.model.environment.cluster.pods as pods

    real = pods.Pod
    monkeypatch.setattr(pods, "Pod", type("Pod", (real,), {"__module__": real.__module__}))
    with pytest.raises(TypeError, match="Pod is no class of podrace's"):
        told(real)


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small podrace: a few files of each folder."""
    root = tmp_path / "podrace"
    for folder in FOLDERS:
        (root / folder / "__pycache__").mkdir(parents=True)
        (root / folder / "one.py").write_text("ONE = 1\n")
        (root / folder / "table.yaml").write_text("one: 1\n")
    monkeypatch.setattr(kept_findings, "_ROOT", root)
    return root


def hashed() -> str:
    digest.cache_clear()  # a test can change a file twice before the clock moves
    sources.cache_clear()
    return sources().digest


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("name", ["one.py", "table.yaml", "two.py"])
def test_every_file_of_podrace_is_in_the_key(copy: Path, folder: str, name: str) -> None:
    before = hashed()
    path = copy / folder / name
    old = path.stat() if path.exists() else None
    path.write_text("ONE = 2\n")
    if old is not None:  # as after `cp -p`, which nobody sees who looks at times
        os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert hashed() != before


def test_bytecode_of_an_earlier_text_is_in_the_key(copy: Path) -> None:
    """Bytecode that is younger than its text comes from it, and may come and go."""
    source = copy / "model/one.py"
    bytecode = Path(cache_from_source(str(source)))
    fresh = hashed()
    bytecode.write_bytes(b"of this text")
    later = time.time_ns() + 10_000_000_000
    os.utime(bytecode, ns=(later, later))
    assert hashed() == fresh
    os.utime(bytecode, ns=(1, 1))
    old = hashed()
    assert old != fresh
    bytecode.write_bytes(b"of another one")
    os.utime(bytecode, ns=(1, 1))
    assert hashed() not in (fresh, old)


def test_nothing_is_kept_while_podrace_is_changed(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(*RACE)
    found = verdict_on(run, BUDGET)
    method = Method(cache=tmp_path / "kept", whole_findings=True)
    sources.cache_clear()
    (copy / "model/one.py").touch()
    monkeypatch.setattr(kept_findings, "BEGUN", (copy / "model/one.py").stat().st_mtime_ns)
    KeptFinding(run, BUDGET, method).put(found)
    assert not (tmp_path / "kept").exists()
    monkeypatch.setattr(kept_findings, "BEGUN", time.time_ns() + (1 << 60))
    place = KeptFinding(run, BUDGET, method)
    (copy / "model/one.py").write_text("ONE = 2\n")
    place.put(found)
    assert not (tmp_path / "kept").exists()
    again = KeptFinding(run, BUDGET, method)
    again.put(found)
    assert KeptFinding(run, BUDGET, method).get() is not None


@pytest.mark.parametrize("verdict", ["INCONCLUSIVE", "IGNORED"])
def test_only_complete_verdicts_are_kept(tmp_path: Path, verdict: Any) -> None:
    run = run_of(*RACE)
    found = verdict_on(run, BUDGET)
    place = KeptFinding(run, BUDGET, Method(cache=tmp_path, whole_findings=True))
    place.put(msgspec.structs.replace(found, verdict=verdict))
    assert place.get() is None
    place.put(found)
    assert place.get() == msgspec.structs.replace(found, notes=(*found.notes, FROM_CACHE))


def test_what_was_rewritten_or_moved_is_not_believed(tmp_path: Path) -> None:
    method = Method(cache=tmp_path, whole_findings=True)
    violated, holds = run_of(*RACE), run_of(*RACE, with_fixes=("72259",))
    first = verdict_on(violated, BUDGET, method)
    good = msgspec.structs.replace(first, verdict="HOLDS", trace=None)
    KeptFinding(holds, BUDGET, method).put(good)
    one, other = (tmp_path / k[:2] / f"{k}.json" for k in (key(violated, tmp_path), key(holds, tmp_path)))  # fmt: skip
    kept = one.read_bytes()
    written = json.loads(kept)
    shutil.copy(other, one)  # that of another question
    assert KeptFinding(violated, BUDGET, method).get() is None
    one.write_text(json.dumps({**json.loads(other.read_bytes()), "key": written["key"]}))
    assert KeptFinding(violated, BUDGET, method).get() is None
    one.write_text(json.dumps({**written, "entry": written["entry"].replace("VIOLATED", "HOLDS")}))
    assert KeptFinding(violated, BUDGET, method).get() is None
    one.write_bytes(kept)
    assert KeptFinding(violated, BUDGET, method).get() is not None
    tmp_path.chmod(0o777)
    assert KeptFinding(violated, BUDGET, method).get() is None


def test_nothing_is_kept_when_a_folder_was_replaced_by_an_older_one(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files in a folder that is moved keep all their times."""
    run = run_of(*RACE)
    found = verdict_on(run, BUDGET)
    shutil.copytree(copy / "model", tmp_path / "other")
    monkeypatch.setattr(kept_findings, "BEGUN", time.time_ns() + (1 << 60))
    sources.cache_clear()
    place = KeptFinding(run, BUDGET, Method(cache=tmp_path / "kept", whole_findings=True))
    (copy / "model").rename(tmp_path / "earlier")
    (tmp_path / "other").rename(copy / "model")
    place.put(found)
    assert not (tmp_path / "kept").exists()
