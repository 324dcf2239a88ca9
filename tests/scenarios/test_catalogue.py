"""The scenarios that come with podrace, and how they are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.base.problems import Problem
from podrace.model.history import RELEASE_ORDER, find_change
from podrace.model.history.versions import canonical
from podrace.properties import PROPERTIES
from podrace.scenarios import Scenario, catalogue, find_scenarios, number_of

NAMES = [s.name for s in catalogue()]
RACES = [s for s in catalogue() if s.race is not None]


@pytest.mark.parametrize("scenario", catalogue(), ids=NAMES)
def test_properties_exist(scenario: Scenario) -> None:
    assert [p for p in (*scenario.properties, *scenario.also) if p not in PROPERTIES] == []


EARLIER = {
    "live-read-removes-node": "1.8",  # later, no attempt names a missing node
    "dropped-by-pop": "1.36",  # 1.37 has it, too; it was counted when there was none
    "swapped-by-a-list": "1.36",  # the same
    "unheard-extender": "1.23",  # later, the plugin that rejects the pod asks for every update of a node
}
"""Races that are shown before the last release that lacks their fix, which is that release for all others."""


@pytest.mark.parametrize("scenario", RACES, ids=[s.name for s in RACES])
def test_the_release_of_a_race_is_the_one_just_before_its_fix(scenario: Scenario) -> None:
    assert scenario.race is not None
    fixed_in = min(find_change(key).age.release for key in scenario.race.fixes)
    assert canonical(scenario.release or "") == EARLIER.get(
        scenario.name, RELEASE_ORDER[min(fixed_in, len(RELEASE_ORDER)) - 1]
    )
    assert canonical(scenario.release or "") in RELEASE_ORDER[:fixed_in]


def test_the_catalogue_has_at_least_twenty_races() -> None:
    assert len(RACES) == 63


def test_the_seed_races_are_there() -> None:
    seeds = {s.race.issue: s.race.fixes for s in RACES if s.race is not None and s.race.seed}
    assert seeds == {50813: ("53647",), 72124: ("72259",)}


@pytest.mark.parametrize(
    "name",
    [
        "nominated-node-race",
        "72124",
        "#72124",
        "72259",
        "kubernetes/kubernetes#72259",
        "https://github.com/kubernetes/kubernetes/issues/72124",
        "kubernetes/kubernetes/pull/72259",
    ],
)
def test_all_names_of_a_race_select_it(name: str) -> None:
    assert [s.name for s in find_scenarios(name)] == ["nominated-node-race"]


def test_a_file_is_named_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("nodes: {n: {cpu: 1}}\npods: {p: {cpu: 1}}\n", encoding="utf-8")
    (found,) = find_scenarios(str(path))
    assert (found.name, found.file) == ("mine", str(path))


def test_an_unknown_name_suggests_the_likely_one() -> None:
    with pytest.raises(Problem) as caught:
        find_scenarios("nominated-node-rice")
    assert str(caught.value) == (
        "unknown scenario `nominated-node-rice`; the nearest: nominated-node-race, new-node-in-zone, untainted-arrival, counted-when-rejected; "
        "`podrace races` and `podrace hazards` list all; or name a YAML file, such as ./mine.yaml"
    )


def test_an_unknown_number_names_the_commands_that_list_all() -> None:
    with pytest.raises(Problem) as caught:
        find_scenarios("#1")
    assert str(caught.value) == (
        "unknown scenario `#1`; `podrace races` and `podrace hazards` list all; or name a YAML file, such as ./mine.yaml"
    )


@pytest.mark.parametrize("version", ["1.34", "v1.37.2"])
def test_a_version_is_no_scenario(version: str) -> None:
    with pytest.raises(Problem) as caught:
        find_scenarios(version)
    assert str(caught.value) == (
        f"`{version}` is a version: name a scenario, such as gone-victim, and add --release {version}"
    )


def test_what_can_be_no_name_of_a_file_is_unknown() -> None:
    with pytest.raises(Problem, match=r"^unknown scenario `a{57}\.\.\.`; `podrace races` "):
        find_scenarios("a" * 3000)


@pytest.mark.parametrize("text", ["", "x", "72124x", "kubernetes/other#1", "1234567890", "７２"])
def test_what_is_no_number(text: str) -> None:
    assert number_of(text) is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dump", "unknown scenario `dump`, but there is a file of that name: `./dump` is a scenario file, `check -f dump` reads Kubernetes objects"),
        ("folder", "`folder` is a directory: name the scenario files in it; `check -f folder` reads Kubernetes objects"),
        ("lock.py", "lock.py: a scenario is a YAML file; systems of your own in Python are for `check` and `export`"),
    ],
)  # fmt: skip
def test_what_is_there_but_no_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    (tmp_path / "dump").touch()
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Problem) as problem:
        find_scenarios(name)
    assert str(problem.value) == message


def test_scenarios_beside_the_catalogue_are_found_by_their_name() -> None:
    names = ["told-too-late", "gone-victim-again", "one-too-many"]
    assert [[s.name for s in find_scenarios(name)] for name in names] == [[name] for name in names]
    assert [s.release for s in find_scenarios("gone-victim")] == ["1.33.0"]
    with pytest.raises(Problem, match="unknown scenario `hazards`"):
        find_scenarios("hazards")
