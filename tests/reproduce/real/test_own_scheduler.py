"""A scheduler of the user's on the real one: plugins that pass, plugins that decide, and those that cannot be built. Needs Go."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
import yaml

from podrace.base.problems import UsageProblem
from podrace.checker.core.exploration import Budget
from podrace.model.history import resolve
from podrace.reports.text.tours_text import conclusion
from podrace.reports.tours import Tour
from podrace.reproduce.lockstep.request import held
from podrace.reproduce.random_runs.random_runs import Wanted
from podrace.reproduce.request import Code, code_of, with_own
from podrace.reproduce.running import Built, built_for
from podrace.reproduce.tours.request import tour_of
from podrace.scenarios import parse_scenario
from tests.reproduce.real.test_real import go_or_skip

OWN = Path(__file__).parent / "own_plugins"
VERSION = "v1.36.3"

TWO = """
name: two
nodes: {n1: {cpu: 2}, n2: {cpu: 2}}
pods: {p: {cpu: 1}, q: {cpu: 1}}
scope: {pod_events: 2, flush: false, backoff: false}
"""
TRANSITIONS = 996


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One place of the plugins for all tests: the driver is built once."""
    return Path(shutil.copytree(OWN, tmp_path_factory.mktemp("own") / "plugins"))


def with_profile(own: Path, name: str, *points: str) -> tuple[Code, Built]:
    """The scheduler with one plugin at these extension points, or at all that it has."""
    plugins = {point: {"enabled": [{"name": name}]} for point in points or ("multiPoint",)}
    if "queueSort" in plugins:
        plugins["queueSort"]["disabled"] = [{"name": "*"}]
    return configured(own, profiles=[{"plugins": plugins}])


def configured(own: Path, **fields: object) -> tuple[Code, Built]:
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    (own / "scheduler.yaml").write_text(yaml.safe_dump(kind | fields), encoding="utf-8")
    code = with_own(code_of(VERSION), str(own))
    return code, built_for(code.version, go_or_skip(), print)


def toured(code: Code, built: Built) -> Tour:
    scenario = parse_scenario(TWO, "two.yaml")
    return tour_of(scenario, resolve(code.release), code, built, Budget(jobs=2), print)


@pytest.mark.real
def test_a_plugin_that_passes_is_in_step(own: Path) -> None:
    found = toured(*with_profile(own, "Pass"))
    assert (found.verdict, found.transitions, found.taken) == ("IN STEP", TRANSITIONS, TRANSITIONS)
    assert found.own == f"{own}: Pass (Filter, Reserve, Permit, PreBind)"
    where = f"{VERSION} with your plugins"
    assert (
        conclusion(found, True, False)
        == f"HOLDS on the code of {where}: it has taken every transition as the model does."
    )


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "points", "kind", "taken", "decided"),
    [
        ("NoNode", ("filter",), "NoNode at Filter: Unschedulable", 4, 4),
        ("NoReserve", (), "NoReserve at Reserve: Unschedulable", 16, 4),
        ("NoPermit", ("permit",), "NoPermit at Permit: Unschedulable", 16, 4),
        ("Hold", (), "Hold at Permit: Wait", 16, 4),
        ("Prefer", (), "Prefer at Score: prefers a node", 318, 16),
        ("Names", ("queueSort",), "Names at QueueSort: other order", 499, 0),
    ],
)
def test_what_a_plugin_decides_is_told(
    own: Path, name: str, points: tuple[str, ...], kind: str, taken: int, decided: int
) -> None:
    """Of `Names`, runs in which p waits first differ before their first step."""
    found = toured(*with_profile(own, name, *points))
    assert {departure.decided for departure in found.departures} == {kind}
    assert (found.verdict, found.transitions, found.differing, found.left) == (
        "INCOMPLETE", TRANSITIONS, 0, 0,
    )  # fmt: skip
    assert (found.taken, found.decided) == (taken, {kind: decided} if decided else {})
    assert found.taken + decided + found.behind_differing == TRANSITIONS
    words = conclusion(found, True, False)
    assert words.startswith("Your plugins decide what the model does not know: ")


@pytest.mark.real
def test_random_runs_with_plugins(own: Path) -> None:
    def causes(name: str) -> Counter[str]:
        code, _ = with_profile(own, name)
        found = held(code, Wanted(4, 5, 0), go_or_skip(), print)
        assert found.own.startswith(f"{own}: {name} (")
        return Counter({cause.decided: cause.runs for cause in found.causes})

    assert causes("Pass") == {}
    assert set(causes("NoReserve")) == {"NoReserve at Reserve: Unschedulable"}


@pytest.mark.real
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"profiles": [{"plugins": {"filter": {"enabled": [{"name": "Gone"}]}}}]}, 'FilterPlugin "Gone" does not exist'),
        ({"profile": []}, 'strict decoding error: unknown field "profile"'),
        ({"podMaxBackoffSeconds": 20}, "podInitialBackoffSeconds, podMaxBackoffSeconds: the model has the default ones: leave them out"),
        ({"extenders": [{"urlPrefix": "http://x"}]}, "extenders: describe them in the scenario"),
        ({"profiles": [{"schedulerName": "a"}, {"schedulerName": "b"}]}, "profiles: none of several is named default-scheduler: name one of them so"),
    ],
)  # fmt: skip
def test_a_configuration_that_cannot_be_taken(own: Path, fields: dict[str, object], said: str) -> None:
    with pytest.raises(UsageProblem) as problem:
        configured(own, **fields)
    assert str(problem.value).startswith(f"--scheduler {own}: scheduler.yaml: ")
    assert said in str(problem.value)
    assert "\n" not in str(problem.value)


@pytest.mark.real
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("package own\n\nfunc f() int { return x }\n", "it does not compile with v1.36.3: "),
        ("package own\n", "package example.com/own has no `func Registry() runtime.Registry`: undefined: user.Registry"),
        ("package own\n\nfunc Registry() int { return 1 }\n", "package example.com/own has no `func Registry() runtime.Registry`: cannot use user.Registry"),
    ],
)  # fmt: skip
def test_a_package_that_cannot_be_built(tmp_path: Path, text: str, said: str) -> None:
    own = Path(shutil.copytree(OWN, tmp_path / "plugins"))
    (own / "plugins.go").write_text(text, encoding="utf-8")
    with pytest.raises(UsageProblem) as problem:
        configured(own)
    assert str(problem.value).startswith(f"--scheduler {own}: {said}")
