"""The section `deviceClasses`: what a pod asks for, and what is said of mistakes."""

from __future__ import annotations

import pytest

from podrace.base.problems import Problem
from podrace.reproduce.claim_objects import extended_resources
from podrace.scenarios import parse_scenario

HEAD = "nodes: {n: {cpu: 2}}\ndeviceClasses: {gpu: {extendedResourceName: e.com/gpu}}\n"
POD = "pods: {p: {cpu: 1, resources: {e.com/gpu: 1}}}\n"


def test_devices_of_the_class_stand_for_the_resource() -> None:
    spec = parse_scenario(HEAD + POD).spec
    (pod,), (claim,) = spec.pods, spec.claims
    assert (pod.claims, pod.extended_claim, list(pod.resources)) == (
        ("p-extended-resources",),
        "p-extended-resources",
        ["cpu", "memory", "ephemeral-storage"],
    )
    assert (claim.of, claim.owner, claim.special, claim.exists) == ("gpu", "p", True, False)


def test_every_class_has_an_implicit_resource() -> None:
    text = HEAD + "pods: {p: {cpu: 1, resources: {deviceclass.resource.kubernetes.io/gpu: 1}}}\n"
    assert parse_scenario(text).spec.pods[0].extended_claim == "p-extended-resources"


def test_what_a_pod_asks_for_by_both_names_is_one_claim() -> None:
    both = "{deviceclass.resource.kubernetes.io/gpu: 1, e.com/gpu: 2}"
    spec = parse_scenario(HEAD + f"pods: {{p: {{cpu: 1, resources: {both}}}}}\n").spec
    assert [(wish.of, wish.count) for wish in spec.claims[0].wishes] == [("gpu", 3)]
    assert extended_resources(spec.pods[0], spec) == {"podrace.io/gpu": "3"}


def test_where_all_nodes_have_the_resource_no_device_backs_it() -> None:
    text = HEAD.replace("{cpu: 2}", "{cpu: 2, resources: {e.com/gpu: 1}}") + POD
    assert parse_scenario(text).spec.claims == ()


def test_a_claim_of_the_name_is_left_from_before() -> None:
    left = "devices: {d: {deviceClassName: gpu}}\nresourceClaims: {p-extended-resources: {device: d, deviceClassName: gpu}}\n"
    (claim,) = parse_scenario(HEAD + POD + left).spec.claims
    assert (claim.special, claim.exists, claim.device is not None) == (True, True, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEAD.replace("{n: {cpu: 2}}", "{n: {cpu: 2}, m: {cpu: 2, resources: {e.com/gpu: 1}}}") + POD,
            "devices back e.com/gpu on nodes without it, and node m has it from a device plugin: give it to all nodes, or to none",
        ),
        (
            HEAD + POD.replace("gpu: 1", "gpu: 5"),
            "in place of extended resources a pod asks for 1 to 4 devices of one class: remove the others",
        ),
        (
            HEAD + POD.replace("gpu: 1", "gpu: 1..2"),
            "in place of extended resources a pod asks for 1 to 4 devices of one class: remove the others",
        ),
        (
            HEAD + "pods: {p: {cpu: 1, podGroup: g, resources: {e.com/gpu: 1}}}\npodGroups: {g: {}}\n",
            "a pod whose extended resources are backed by devices has no `podGroup`: remove it",
        ),
        (
            "nodes: {n: {cpu: 2}}\ndeviceClasses: {gpu: {extendedResourceName: gpu}}\n" + POD,
            "`gpu` is no extended resource: give it a domain, such as example.com/gpu",
        ),
        (
            HEAD.replace("gpu: {e", "a: {extendedResourceName: e.com/gpu}, gpu: {e") + POD,
            "class a backs `e.com/gpu` already: name another resource",
        ),
        (
            HEAD + POD + "resourceClaims: {p-extended-resources: {}}\n",
            "resourceClaims.p-extended-resources: the scheduler made this claim for p, so it exists, and asks for 1 of class gpu: say so, or remove the claim",
        ),
        (
            "nodes: {n: {cpu: 2}}\ndevices: {d: {}}\nresourceClaims: {c: {device: [d, d]}}\npods: {p: {cpu: 1, resourceClaims: [c]}}\n",
            "resourceClaims.c.device[1]: `d` is listed twice: remove one of them",
        ),
        (
            HEAD + "pods: {p: {cpu: 1, nodeName: n, resources: {e.com/gpu: 1}}}\n",
            "p is bound, and has no claim p-extended-resources that is reserved for it: add it to `resourceClaims`, with `device` and `reservedFor`",
        ),
        (
            HEAD + POD + "controllers: {web: {kind: ReplicaSet, pods: [p]}}\n",
            "devices back what p asks for, and of a pod that a controller makes again and again, this is not modelled: remove the resource, or the pod from its controller",
        ),
        (
            HEAD + POD.replace("cpu: 1,", "cpu: 1, schedulerName: other,"),
            "devices back what p asks for, and of a pod that another scheduler places, this is not modelled: remove the resource or `schedulerName`",
        ),
        (
            HEAD + POD + "resourceClaimTemplates: {t: {}}\n",
            "resourceClaimTemplates.t: no pod refers to the template: name it in `resourceClaims` of one, or remove it",
        ),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(Problem) as error:
        parse_scenario(text)
    assert str(error.value).endswith(message)
