"""Extenders of a KubeSchedulerConfiguration: what they may decide is said, by verb."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podrace.manifests import read_manifests
from podrace.scenarios import ScenarioError
from tests.manifests.manifest_objects import objects, text_of


def remarks(folder: Path, *extenders: Any) -> list[str]:
    file = folder / "m.yaml"
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "extenders": list(extenders),
    }  # fmt: skip
    file.write_text(text_of([*objects("node"), configuration]))
    return [line for line in read_manifests([str(file)]).remarks if "extender" in line]


def test_each_verb_that_matters_is_told_with_its_pods(tmp_path: Path) -> None:
    gpu = {
        "urlPrefix": "http://gpu", "filterVerb": "filter", "bindVerb": "bind", "managedResources": [{"name": "example.com/gpu"}],
    }  # fmt: skip
    victims = {"urlPrefix": "http://victims", "preemptVerb": "preempt"}
    assert remarks(tmp_path, gpu, victims) == [
        (
            "filterVerb of an extender is left out: which nodes it rejects is not in the objects, so it lets all through; "
            "a written scenario has extenderSelector for that (asked for pods with example.com/gpu only) (http://gpu)"
        ),
        (
            "bindVerb of an extender is left out: its Bindings are taken for kube-scheduler's own "
            "(asked for pods with example.com/gpu only) (http://gpu)"
        ),
        "preemptVerb of an extender is left out: it is not asked about victims (http://victims)",
    ]


def test_scores_alone_are_nothing_to_tell(tmp_path: Path) -> None:
    assert (
        remarks(tmp_path, {"urlPrefix": "http://scores", "prioritizeVerb": "prioritize", "weight": 1}) == []
    )


def test_malformed_ones_are_refused_with_their_place(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"m.yaml:\d+: extenders\[0\]: expected an extender: a mapping"):
        remarks(tmp_path, "http://x")
