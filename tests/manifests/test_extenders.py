"""Extenders of a KubeSchedulerConfiguration: what they may decide is said, by verb."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from podrace.base.problems import Problem
from podrace.manifests import read_manifests
from tests.manifests.manifest_objects import objects, text_of
from tests.manifests.test_representative import node, pod

KIND = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def remarks(folder: Path, *extenders: Any, profiles: Sequence[Any] = ()) -> list[str]:
    file = folder / "m.yaml"
    configuration = {
        **KIND, "extenders": list(extenders), "profiles": list(profiles),
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
    of = {"urlPrefix": "http://scores", "prioritizeVerb": "prioritize", "weight": 1, "enableHTTPS": True, "httpTimeout": "5s", "nodeCacheCapable": True}  # fmt: skip
    assert remarks(tmp_path, of) == []


GPU = "example.com/gpu"


@pytest.mark.parametrize(
    ("ignorable", "told"),
    [
        (False, "NodeResourcesFit ignores example.com/gpu, which an extender counts (http://gpu)"),
        (True, "nobody counts example.com/gpu while a call to this extender fails, as it is ignorable and the scheduler ignores that (http://gpu)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("profiles", [[], [{"schedulerName": "default-scheduler"}]])
def test_a_resource_that_the_scheduler_is_to_ignore_keeps_pods_from_no_node(
    tmp_path: Path, ignorable: bool, told: str, profiles: list[Any]
) -> None:
    of = {"urlPrefix": "http://gpu", "ignorable": ignorable, "managedResources": [{"name": GPU, "ignoredByScheduler": True}]}  # fmt: skip
    assert remarks(tmp_path, of, profiles=profiles) == [told]
    asks = pod("p", "1")
    asks["spec"]["containers"][0]["resources"]["requests"] |= {GPU: 1, "example.com/fpga": 1}
    file = tmp_path / "asks.yaml"
    file.write_text(text_of([node("n1"), asks, {**KIND, "extenders": [of], "profiles": profiles}]))
    requests = read_manifests([str(file)]).pending[0].requests
    assert (GPU in requests, "example.com/fpga" in requests) == (False, True)


def test_what_extenders_ignore_takes_the_place_of_what_a_profile_ignores(tmp_path: Path) -> None:
    """As in upstream's buildExtenders; groups of resources stay."""
    of = {"urlPrefix": "http://gpu", "managedResources": [{"name": GPU, "ignoredByScheduler": True}]}
    args = {"ignoredResources": ["example.com/fpga"], "ignoredResourceGroups": ["example.org"]}
    profile = {
        "schedulerName": "default-scheduler",
        "pluginConfig": [{"name": "NodeResourcesFit", "args": args}],
    }
    asks = pod("p", "1")
    asks["spec"]["containers"][0]["resources"]["requests"] |= {
        GPU: 1,
        "example.com/fpga": 1,
        "example.org/nic": 1,
    }
    file = tmp_path / "asks.yaml"
    file.write_text(text_of([node("n1"), asks, {**KIND, "extenders": [of], "profiles": [profile]}]))
    requests = read_manifests([str(file)]).pending[0].requests
    assert [name in requests for name in (GPU, "example.com/fpga", "example.org/nic")] == [False, True, False]


@pytest.mark.parametrize(
    ("extenders", "message"),
    [
        ([{"prioritizeVerb": "p"}], "extenders[0]: kube-scheduler refuses prioritizeVerb without a positive `weight`: add one"),
        ([{"bindVerb": "b"}, {"bindVerb": "b"}], "extenders[1].bindVerb: kube-scheduler takes one extender that binds: remove `bindVerb` from the others"),
        ([{"managedResources": [{"name": GPU}]}, {"managedResources": [{"name": GPU}]}], "extenders[1].managedResources[0].name: kube-scheduler takes one extender for example.com/gpu: name it once"),
        ([{"managedResources": [{"ignoredByScheduler": True}]}], "extenders[0].managedResources[0]: `name` is missing: name the resource"),
    ],
)  # fmt: skip
def test_what_kube_scheduler_refuses(tmp_path: Path, extenders: list[Any], message: str) -> None:
    with pytest.raises(Problem) as refused:
        remarks(tmp_path, *extenders)
    assert message in str(refused.value)


def test_malformed_ones_are_refused_with_their_place(tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"m.yaml:\d+: extenders\[0\]: expected an extender: a mapping"):
        remarks(tmp_path, "http://x")
