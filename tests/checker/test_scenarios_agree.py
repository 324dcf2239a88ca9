"""The interpreter and the native engine agree on the scenarios: fully where they are small, else on the first states.

The full comparison of the large ones takes hours of interpreter time: `make campaign`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from podrace.checker.core.exploration import Budget
from podrace.checker.explicit import engine
from podrace.checker.explicit import explore as explore_natively
from podrace.checker.explicit.small_search import explore_if_small
from podrace.checker.explicit.states import sleep_sets
from podrace.checker.reduction.questions import explored_slice
from podrace.model.history import Composition, resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import Scenario, catalogue
from tests.checker.results import engine_contract, untimed
from tests.checker.slices import slice_system
from tests.profiles import by_profile

FIRST = by_profile(fast=300, full=1500)
"""How many states are compared in every test run."""


def composed(scenario: Scenario, fixes: tuple[str, ...]) -> Composition:
    """The release of a scenario with these changes, and the feature gates that it sets."""
    assert scenario.release is not None
    return resolve(scenario.release, fixes, (), dict(scenario.feature_gates))


def cases() -> list[tuple[Scenario, str, Composition]]:
    """Every scenario with its own properties, a race also after its fix and with what the fix leaves open."""
    found = []
    for scenario in catalogue():
        assert scenario.release is not None
        before = composed(scenario, scenario.race.beside if scenario.race else ())
        found += [(scenario, name, before) for name in scenario.properties]
        if scenario.race is None:
            continue
        after = composed(scenario, scenario.race.after)
        found += [(scenario, name, after) for name in scenario.properties]
        residual = scenario.race.residual
        if residual is not None:
            closed = composed(scenario, (*scenario.race.after, *residual.closed_by))
            found += [(scenario, residual.property, after), (scenario, residual.property, closed)]
    return found


CASES = cases()
IDS = [f"{s.name} {p} {c.label}" for s, p, c in CASES]


def sliced(scenario: Scenario, name: str, composition: Composition, **scope: Any) -> TransitionSystem:
    spec = replace(scenario.spec, scope=replace(scenario.spec.scope, **scope))
    return slice_system(instrument(spec, composition.classes, [PROPERTIES[name]]))


def is_as_found(scenario: Scenario, composition: Composition) -> bool:
    """Whether no fix has been put in."""
    assert scenario.release is not None
    beside = scenario.race.beside if scenario.race else ()
    return composition.label == composed(scenario, beside).label


AS_FOUND = [number for number, (s, _, c) in enumerate(CASES) if is_as_found(s, c)]
IN_EVERY_RUN = set(AS_FOUND[::8])
"""The cases without a fix that every run asks; `make nightly` asks the others."""


@pytest.mark.parametrize(
    ("scenario", "name", "composition"),
    [
        pytest.param(*case, id=IDS[number], marks=[] if number in IN_EVERY_RUN else [pytest.mark.nightly])
        for number, case in enumerate(CASES)
    ],
)
def test_engines_agree_on_the_first_states(scenario: Scenario, name: str, composition: Composition) -> None:
    found = engine_contract(sliced(scenario, name, composition), Budget(max_states=FIRST))
    assert found.states <= FIRST
    assert found.complete or found.stopped in ("states", "answered")


@pytest.mark.representatives(35)
@pytest.mark.ci
@pytest.mark.parametrize(("scenario", "name", "composition"), CASES, ids=IDS)
def test_sleep_sets_change_nothing(
    scenario: Scenario, name: str, composition: Composition, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, budget = sliced(scenario, name, composition), Budget(max_states=60_000)
    monkeypatch.setattr(engine, "AFTER", 1 << 62)
    plain = untimed(explore_natively(system, budget))
    monkeypatch.setattr(engine, "AFTER", -1)
    monkeypatch.setattr(sleep_sets, "_LEAST_SHARE", -1.0)
    assert untimed(explore_natively(system, budget)) == plain


# The same model on the smallest backlog is small enough for the interpreter to finish.
SMALL = {
    "removed-node-blocks-pods L-ISO 1.8.0": 709,
    "removed-node-blocks-pods L-ISO 1.8.0 + 53647": 893,
    "nominated-node-race S-NOMVIS 1.13.0": 11362,
    "nominated-node-race S-NOM 1.13.0 + 72259 + 77990 + 90660": 2881,
    "node-comes-back-empty S-CAP 1.18.0": 226,
    "node-comes-back-empty S-CAP 1.18.0 + 93938": 29750,
    "protected-by-budget S-NOM 1.22.0": 361,
    "new-node-in-zone S-STUCK 1.22.0": 3094,
    "waiting-victim S-CAP 1.22.0": 3053,
}


LONG = ("nominated-node-race S-NOMVIS 1.13.0", "node-comes-back-empty S-CAP 1.18.0 + 93938")
"""What the interpreter needs more than a few seconds for."""


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.nightly] if case in LONG else []) for case in SMALL]
)
def test_engines_agree_to_the_end_on_a_small_backlog(case: str) -> None:
    system = sliced(*CASES[IDS.index(case)], pod_events=1)
    found = engine_contract(system, Budget())
    assert found.states == SMALL[case]
    assert found.stopped in (None, "answered")


@pytest.mark.representatives(35)
@pytest.mark.ci
@pytest.mark.parametrize(("scenario", "name", "composition"), CASES, ids=IDS)
def test_small_searches_have_the_answer_of_native_code(
    scenario: Scenario, name: str, composition: Composition
) -> None:
    system = explored_slice(instrument(scenario.spec, composition.classes, [PROPERTIES[name]]), name)
    small = explore_if_small(system, Budget())
    if small is None:
        pytest.skip("not small")
    assert untimed(explore_natively(system)) == untimed(small)


@pytest.mark.campaign
@pytest.mark.parametrize(("scenario", "name", "composition"), CASES, ids=IDS)
def test_engines_agree_to_the_end(scenario: Scenario, name: str, composition: Composition) -> None:
    found = engine_contract(sliced(scenario, name, composition), Budget())
    assert found.stopped in (None, "answered")
