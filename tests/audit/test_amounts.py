"""A pod of a log counts as the same pod does in a manifest."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.audit.history.amounts import PODS, anti_affinity, written_requests
from podrace.audit.reading.records import Pod
from podrace.base.problems import Problem
from podrace.manifests.reading.manifest_files import documents
from podrace.manifests.reading.resource_amounts import requests_of
from tests.manifests.manifest_objects import REQUIRED
from tests.profiles import examples

RESOURCES = st.sampled_from(["cpu", "memory", "example.com/gpu", "hugepages-2Mi", "not.counted"])
QUANTITIES = st.sampled_from(["0", "1", 2, "500m", "1.5", 1e3, "64Mi", "2Pi", "none"])
AMOUNTS = st.dictionaries(RESOURCES, QUANTITIES, max_size=2)
ASKED = st.fixed_dictionaries({}, optional={"requests": AMOUNTS, "limits": AMOUNTS})
FIRST = st.fixed_dictionaries(
    {"resources": ASKED}, optional={"restartPolicy": st.sampled_from(["Always", "Never", "Odd"])}
)
SPECS = st.fixed_dictionaries(
    {"containers": st.lists(st.fixed_dictionaries({"resources": ASKED}), max_size=2)},
    optional={"initContainers": st.lists(FIRST, max_size=2), "resources": ASKED, "overhead": AMOUNTS},
)


def in_log(spec: dict[str, Any]) -> Pod:
    return msgspec.json.decode(json.dumps({"kind": "Pod", "spec": spec}), type=Pod)


def in_manifest(spec: dict[str, Any]) -> dict[str, int] | None:
    (top,) = documents(json.dumps(spec), "pod.json")
    try:
        return {**requests_of(top.mapping("a specification")), PODS: 1}
    except Problem:
        return None


@settings(max_examples=examples(100))
@given(SPECS)
def test_a_pod_of_a_log_counts_as_in_a_manifest(spec: dict[str, Any]) -> None:
    assert written_requests(in_log(spec)) == in_manifest(spec)


def test_a_term_is_read_as_it_stands_in_the_log() -> None:
    """With what JSON escapes, and texts that YAML would take for something else."""
    text = '{"labelSelector":{"matchLabels":{"a\\u0070p":"true","n":"5"}},"topologyKey":"example.com\\/zone"}'
    pod = in_log({"affinity": {"podAntiAffinity": {REQUIRED: [json.loads(text)]}}})
    raw = f'{{"kind":"Pod","spec":{{"affinity":{{"podAntiAffinity":{{"{REQUIRED}":[{text}]}}}}}}}}'
    (term,) = anti_affinity(msgspec.json.decode(raw, type=Pod)) or ()
    assert (term.match_labels, term.topology_key) == ({"app": "true", "n": "5"}, "example.com/zone")
    assert term.namespaces == ("default",)
    assert anti_affinity(pod) == (term,)


def test_a_term_that_is_nothing_leaves_the_terms_unknown() -> None:
    for term in (None, "x", {}, {"topologyKey": "z", "odd": 1}):
        assert anti_affinity(in_log({"affinity": {"podAntiAffinity": {REQUIRED: [term]}}})) is None
