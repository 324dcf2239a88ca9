"""Every function of upstream's trees has a row, and the rows name elements that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

import pytest

from podrace.analysis.upstream.source_tree import functions_in
from podrace.model import scheduler
from podrace.model.history import CHANGES
from podrace.model.history.trees import read_trees
from podrace.model.history.upstream import (
    FUNCTIONS,
    PARTS,
    elements_of,
    is_value,
    mirrors,
    not_modelled,
    parts,
)
from podrace.model.history.versions import canonical
from podrace.reproduce.changes.replays import CALLED, nearness
from tests.upstream_trees import tree_of

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "model"
ELEMENTS = sorted({element for mirror in mirrors() for element in mirror.elements})
TREES = read_trees().by_version
ABSTRACTIONS = set(
    re.findall(r"^\| (A-[A-Z-]+) \|", (ROOT / "docs" / "model.md").read_text(encoding="utf-8"), re.M)
)


def test_there_are_elements() -> None:
    assert len(ELEMENTS) > 90
    assert {path.stem for path in FUNCTIONS.glob("*.yaml")} == set(PARTS)


def resolve(element: str) -> tuple[ModuleType, list[str]]:
    """The module that the first names of an element name, and the names that are left: a class and a method, or a function."""
    names = element.split(".")
    depth = next(
        i for i, name in enumerate(names) if (MODEL / Path(*names[: i + 1])).with_suffix(".py").is_file()
    )
    return import_module(".".join(["podrace.model", *names[: depth + 1]])), names[depth + 1 :]


@pytest.mark.parametrize("element", ELEMENTS)
def test_the_element_is_defined_in_that_file_and_class(element: str) -> None:
    module, (first, *attributes) = resolve(element)
    found = vars(module)[first]
    assert found.__module__ == module.__name__
    assert len(attributes) <= 1
    for name in attributes:
        method = vars(found)[name]
        assert method.__module__ == module.__name__
        assert method.__qualname__ == f"{first}.{name}"
    assert callable(found)


@pytest.mark.parametrize(
    ("element", "problem"),
    [
        ("scheduler.cycle.Scheduler.pop", StopIteration),
        ("scheduler.queue.without_hints.PriorityQueue", AssertionError),
        ("scheduler.queue.without_hints.QueueWithoutHints.put", KeyError),
    ],
)
def test_another_file_or_class_is_not_enough(element: str, problem: type[Exception]) -> None:
    with pytest.raises(problem):
        test_the_element_is_defined_in_that_file_and_class(element)


@pytest.mark.parametrize("version", TREES)
def test_every_function_of_the_tree_has_a_row(version: str) -> None:
    assert canonical(version) is not None
    assert len(TREES[version]) > 600
    named = [place for place in TREES[version] if not is_value(place)]
    assert [p for p in named if not elements_of(p) and not_modelled(p) is None] == []


@pytest.mark.parametrize("version", TREES)
def test_the_record_has_the_functions_of_the_real_tree(version: str) -> None:
    assert set(functions_in(tree_of(version))) == set(TREES[version])


WITHOUT_ROWS = {
    "volumebinding": "A-VOLUME-KINDS: functions of the volume plugins are not recorded",
    "podgroups": "GangScheduling and the entries of groups in the queue: their files are not recorded",
    "other_scheduler": "no part of kube-scheduler's own sources",
    "process": "what the API server does with Bindings of a process that is gone",
}


def steps_of(package: ModuleType) -> Iterator[str]:
    """Every step of the parts of the model in a package."""
    for found in walk_packages(package.__path__, f"{package.__name__}."):
        for cls in vars(import_module(found.name)).values():
            if isinstance(cls, type) and cls.__module__ == found.name:
                place = f"{found.name}.{cls.__name__}".removeprefix("podrace.model.")
                yield from (f"{place}.{k}" for k, v in vars(cls).items() if hasattr(v, "__podrace_step__"))


def test_every_step_of_the_scheduler_stands_for_a_function() -> None:
    """Else a change of that function would be judged without what the model has of it."""
    missing = set(steps_of(scheduler)) - set(ELEMENTS)
    parts = {step.split(".")[1] for step in missing}
    assert parts == set(WITHOUT_ROWS), sorted(missing)


def test_every_change_of_claims_is_near_to_a_function() -> None:
    """What upstream changed in the plugin of claims is asked about when its functions change."""
    of = [
        key
        for key, one in CHANGES.items()
        if any(
            "model.scheduler.dynamicresources" in f"{b.__module__}" for c in one.classes for b in c.__mro__
        )
    ]
    assert {"140269", "140089", "136269"} <= set(of)
    assert [key for key in of if nearness(key, ELEMENTS) > CALLED] == []


def test_every_row_is_about_a_function_of_some_tree() -> None:
    known = {place for tree in TREES.values() for place in tree}
    assert {place for mirror in mirrors() for place in mirror.places} <= known
    patterns = [pattern for part in parts() for row in part.others for pattern in row.patterns]
    assert [p for p in patterns if not any(fnmatchcase(place, p) for place in known)] == []


def test_no_function_is_both_modelled_and_named_as_not() -> None:
    named = {place for mirror in mirrors() for place in mirror.places}
    others = [pattern for part in parts() for row in part.others for pattern in row.patterns]
    assert named.intersection(others) == set()
    assert sorted(p for p in others if others.count(p) > 1) == []


def test_reasons_name_abstractions_that_there_are() -> None:
    reasons = [row.reason for part in parts() for row in part.others]
    assert all(reasons)
    cited = {name for reason in reasons for name in re.findall(r"\bA-[A-Z-]*[A-Z]", reason)}
    assert len(cited) > 5
    assert cited <= ABSTRACTIONS


def test_preemption_points_at_the_goroutine_that_does_it_now() -> None:
    asynchronous = "scheduler.preemption.async_preemption.AsyncPreemption"
    executor = "framework/preemption/executor.go"
    assert f"{asynchronous}.begin" in elements_of(f"{executor}:getLowerPriorityNominatedPods")
    assert f"{asynchronous}.clear_nomination" in elements_of(f"{executor}:clearNominatedNodeName")
    assert f"{asynchronous}.start" in elements_of(f"{executor}:Executor.prepareCandidateAsync")
    (nominated,) = [m for m in mirrors() if "schedule_one.go:Scheduler.evaluateNominatedNode" in m.places]
    assert nominated.releases == "1.22 and later"


def test_limits_of_volumes_are_followed() -> None:
    file = "framework/plugins/nodevolumelimits/csi.go"
    assert "scheduler.framework.filters.Filters.is_full_of" in elements_of(f"{file}:CSILimits.Filter")
    hints = [place for place in TREES["1.37.2"] if place.startswith(f"{file}:CSILimits.isSchedulableAfter")]
    assert len(hints) == 4
    deliver = "scheduler.volumebinding.csi_informers.CsiInformers.deliver_"
    assert all({f"{deliver}limit", f"{deliver}attachment"} <= set(elements_of(hint)) for hint in hints)
