"""Devices that several claims share, partitions of a device, claims for several devices and prioritized lists: exact counts (docs/notebook/claims.md)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from podrace.analysis.request.in_release import refusal_of
from podrace.base.problems import Problem
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.model.history.versions.numbers import exact
from podrace.properties import PROPERTIES, instrument
from podrace.reproduce.random_runs.quick_steps import QuickSteps
from podrace.scenarios import find_scenarios, parse_scenario
from tests.races.claim_patches import SharesCountedOnce

FOLDER = Path(__file__).parents[2] / "scenarios" / "claims"
PAGE = (Path(__file__).parents[2] / "docs" / "notebook" / "claims.md").read_text(encoding="utf-8")
V, H = "VIOLATED", "HOLDS"
ONCE = (SharesCountedOnce,)

ROWS: list[tuple[str, str, str, tuple[type, ...], tuple[str, ...], str, int, int | None]] = [
    ("capacity-counted-twice", "L-CLAIM", "1.36.3", (), (), V, 7235, 39),
    ("capacity-counted-twice", "L-CLAIM", "1.37.2", (), (), V, 7235, 39),
    ("capacity-counted-twice", "L-CLAIM", "1.38.0-beta.0", (), (), V, 5407, 39),
    ("capacity-counted-twice", "L-CLAIM", "1.36.3", ONCE, (), H, 8103, None),
    ("capacity-counted-twice", "S-DEV", "1.36.3", (), (), H, 8619, None),
    ("several-devices", "S-DEV", "1.34.3", (), (), V, 6090, 29),
    ("several-devices", "S-DEV", "1.35.0", (), (), V, 17837, 32),
    ("several-devices", "S-DEV", "1.36.3", (), (), H, 885826, None),
    ("several-devices", "L-CLAIM", "1.36.3", (), (), H, 885826, None),
    ("whole-and-half", "S-DEV", "1.36.3", (), ("136269",), V, 3924, 32),
    ("whole-and-half", "S-DEV", "1.36.3", (), (), H, 5500, None),
    ("whole-and-half", "L-CLAIM", "1.36.3", (), (), H, 5500, None),
    ("second-best-taken", "L-PLACE", "1.36.3", (), (), V, 39232, 6),
    ("second-best-taken", "S-DEV", "1.36.3", (), (), H, 39232, None),
]
NAMES = {row[0] for row in ROWS}


@pytest.mark.parametrize(
    ("name", "identifier", "release", "patches", "without", "verdict", "states", "steps"), ROWS
)
def test_verdict_and_counts(
    name: str, identifier: str, release: str, patches: tuple[type, ...], without: tuple[str, ...], verdict: str,
    states: int, steps: int | None,
) -> None:  # fmt: skip
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    classes = (*resolve(release, (), without).classes, *patches)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES[identifier]]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous
    assert f"{states:,} states" in PAGE


@pytest.mark.parametrize(
    ("name", "release", "what", "first"),
    [
        ("second-best-taken", "1.33", "resourceClaims with firstAvailable", "1.34"),
        ("whole-and-half", "1.35", "devices that are shared, or draw on counters,", "1.36"),
        ("capacity-counted-twice", "1.35", "devices that are shared, or draw on counters,", "1.36"),
    ],
)
def test_earlier_releases_are_refused(name: str, release: str, what: str, first: str) -> None:
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    composition = resolve(release)
    assert refusal_of(replace(scenario, release=release), composition) == (
        f"{name}: {what} are modelled from {first} on: ask for a later release than {exact(composition.release)}"
    )
    assert refusal_of(scenario, resolve("1.36.3")) is None


ELSEWHERE = """\
name: elsewhere
nodes: {n1: {cpu: 1, labels: {a: b}}, n2: {cpu: 1}}
devices: {d1: {node: n2}, d2: {}}
resourceClaims: {c1: {count: 2}}
pods: {p: {cpu: 1, resourceClaims: [c1], nodeSelector: {a: b}}}
scope: {pod_events: 1, claim_events: 1}
"""
UNSHARED = """\
name: unshared
nodes: {n1: {cpu: 1}}
devices: {d1: {node: n1, capacity: 2}, d2: {node: n1}}
resourceClaims: {c1: {capacity: 2}, c2: {capacity: 2}}
pods: {p: {cpu: 1, resourceClaims: [c1, c2]}}
scope: {pod_events: 1, claim_events: 1}
"""


@pytest.mark.parametrize("text", [ELSEWHERE, UNSHARED])
def test_what_a_node_has_not_is_not_had_there(text: str) -> None:
    """A claim for two devices where there is one, and a claim for capacity where the device with some is taken: the other one has none."""
    scenario = parse_scenario(text, "x.yaml")
    system = instrument(scenario.spec, resolve("1.37.2").classes, [])
    steps = QuickSteps(system)
    taken, seen, left = set(), {system.initial}, [system.initial]
    while left:
        state = left.pop()
        for number in steps.enabled(state):
            taken.add(system.transitions[number].step)
            after = steps.successor(state, number)
            if after not in seen:
                seen.add(after)
                left.append(after)
    assert "add_in_flight" in taken
    assert "assume" not in taken


ADMIN = """\
name: admin
nodes: {n1: {cpu: 2}}
devices: {gpu1: {node: n1}}
resourceClaims: {c1: {adminAccess: true}, c2: {}}
pods: {p: {cpu: 1, resourceClaims: [c1]}, q: {cpu: 1, resourceClaims: [c2]}}
scope: {pod_events: 1, claim_events: 1, flush: false, backoff: false}
"""


@pytest.mark.parametrize(("claim", "stuck"), [("{adminAccess: true}", False), ("{}", True)])
def test_an_administrators_claim_takes_nothing(claim: str, stuck: bool) -> None:
    """Both pods come to a node with one device, unless each claim wants it for itself."""
    scenario = parse_scenario(ADMIN.replace("{adminAccess: true}", claim), "x.yaml")
    system = instrument(
        scenario.spec, resolve("1.37.2").classes, [PROPERTIES["S-DEV"], PROPERTIES["L-CLAIM"]]
    )
    assert {found.verdict.name for found in check(system, ["S-DEV", "L-CLAIM"])} == {H}
    steps, seen, left = QuickSteps(system), {system.initial}, [system.initial]
    bound = [i for i, v in enumerate(system.variables) if v.name in ("api.pod[p].node", "api.pod[q].node")]
    assert len(bound) == 2
    both = False
    while left:
        state = left.pop()
        both |= all(state[i] for i in bound)
        for number in steps.enabled(state):
            after = steps.successor(state, number)
            if after not in seen:
                seen.add(after)
                left.append(after)
    assert both is not stuck


@pytest.mark.parametrize(("claims", "verdict"), [("c1, c2", V), ("c2, c1", H)])
def test_what_an_administrators_claim_was_just_given_is_in_use(claims: str, verdict: str) -> None:
    """deviceInUse knows what earlier claims of the attempt were given, an administrator's or not: on the code of v1.37.2 the pod with c1 first fits nowhere."""
    scenario = parse_scenario(
        ADMIN.replace("[c1]}, q: {cpu: 1, resourceClaims: [c2]}", f"[{claims}]}}"), "x.yaml"
    )
    asked = ["S-DEV", "S-STUCK", "L-CLAIM"]
    system = instrument(scenario.spec, resolve("1.37.2").classes, [PROPERTIES[name] for name in asked])
    assert [found.verdict.name for found in check(system, asked)] == [H, verdict, verdict]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("{adminAccess: true}", "{adminAccess: true, count: 2}"), "c1 asks for administrators' access"),
        (("{node: n1}", "{node: n1, exists: false}"), "c1 asks for administrators' access"),
        (
            ("{node: n1}", "{node: n1, capacity: 2}"),
            "c1 asks for administrators' access, and device gpu1 is shared",
        ),
        (
            (
                "devices: {gpu1: {node: n1}}",
                "sharedCounters: {m: 1}\ndevices: {gpu1: {node: n1, consumesCounters: {m: 1}}}",
            ),
            "c1 asks for administrators' access, and device gpu1 draws on counters",
        ),
        (
            (
                "{node: n1}}\nresourceClaims: {c1: {adminAccess: true}",
                "{capacity: 2}, gpu2: {}}\nresourceClaims: {c1: {count: 2}",
            ),
            "c1 asks for several devices, and device gpu1 is shared",
        ),
    ],
)
def test_what_is_not_modelled_of_administrators_access(change: tuple[str, str], words: str) -> None:
    with pytest.raises(Problem, match=words):
        parse_scenario(ADMIN.replace(*change), "x.yaml")
    assert "adminAccess are modelled from 1.36 on" in str(
        refusal_of(replace(parse_scenario(ADMIN, "x.yaml"), release="1.35"), resolve("1.35"))
    )
