"""Changes that are remembered: the answer never depends on what is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podrace.checker.codegen import expansion, memo
from podrace.checker.codegen.expansion import Expansion
from podrace.checker.codegen.memo import Memo
from podrace.checker.codegen.program import generate
from podrace.checker.codegen.state_layout import Layout
from podrace.checker.core.exploration import Budget
from podrace.checker.explicit import explore, parallel_bfs, reference
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios
from tests.checker.explicit.systems import counting, queue
from tests.checker.explicit.test_search import untimed, widened
from tests.random_systems import systems


@pytest.fixture(params=[1, 2, 8], ids=lambda most: f"{most} entries")
def all_remembered(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every transition has a table, so small that most entries are replaced again and again."""
    monkeypatch.setattr(expansion, "LEAST_NODES", 0)
    monkeypatch.setattr(memo, "MOST_ENTRIES", request.param)
    monkeypatch.setattr(parallel_bfs, "MANY", 0)
    monkeypatch.setattr(parallel_bfs, "WIDE", 1)
    monkeypatch.setattr(parallel_bfs, "LARGEST_SHARE", 3)


@pytest.mark.usefixtures("all_remembered")
@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(systems(), st.integers(1, 3), st.integers(1, 3))
def test_agrees_with_the_reference_engine(system: TransitionSystem, words: int, jobs: int) -> None:
    system = widened(system, words)
    memos = Expansion(system, Layout(system.variables)).memos
    assert memos.keys() == set(range(len(system.transitions)))
    assert untimed(explore(system, Budget(jobs=jobs))) == untimed(reference.explore(system, Budget()))


@pytest.mark.usefixtures("all_remembered")
@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_threads_share_the_tables(jobs: int) -> None:
    system = queue(9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expansion, "LEAST_NODES", 1 << 30)
        assert not Expansion(system, Layout(system.variables)).memos
        plain = explore(system, Budget())
    assert untimed(explore(system, Budget(jobs=jobs))) == untimed(plain)


def test_the_scheduler_with_and_without() -> None:
    (scenario,) = find_scenarios("73309")
    system = instrument(scenario.spec, resolve("1.13", ()).classes, [PROPERTIES["S-STUCK"]])
    budget = Budget(max_states=60_000)
    found = explore(system, budget)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expansion, "LEAST_NODES", 1 << 30)
        plain = explore(system, budget)
    assert replace(found, seconds=0.0) == replace(plain, seconds=0.0)
    memos = Expansion(system, Layout(system.variables)).memos
    assert 10 < len(memos) < len(system.transitions)


def test_what_is_read_and_written() -> None:
    # The masks are what makes an answer right. What a guard looks at is not part of them: it was looked at before.
    system = counting(5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expansion, "LEAST_NODES", 0)
        up, reset = Expansion(system, Layout(system.variables)).memos.values()
    assert up == Memo(0, read={0: 0b111}, written={0: 0b111})
    assert reset == Memo(1, read={}, written={})
    assert (up.entries, reset.entries) == (8, 1)


def test_what_it_takes_is_known() -> None:
    table = Memo(0, read={0: 0xFFFF, 1: 0xF}, written={1: 0xF0})
    assert (table.entries, table.stride, table.bytes) == (4096, 4, 4096 * 4 * 8)
    assert Memo(0, read={0: 3}, written={0: 1, 1: 1, 2: 1}).stride == 8
    program = generate(queue(9))
    assert program.bytes == sum(m.bytes for m in Expansion(program.system, program.layout).memos.values())
