"""The pods of a case that wait with a nomination: which fields name them, and in which forms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tests.conformance.cases.cases import Case, NotTranslated

_NO_PODS = ("nominatedNodeStatus",)
_SAYS_NOMINATED = re.compile(r"nominat(ed|ions?)", re.IGNORECASE)
_ELSEWHERE = re.compile(r"(expected|stub|note)", re.IGNORECASE)


def nomination_fields(case: Case) -> list[str]:
    """The fields whose names say that their pods are nominated, but for empty ones, flags, and those that repeat where the case's own pod is."""
    own = case.get("pod") or case.get("preemptor") or {}
    return [
        name
        for name, value in case.items()
        if not isinstance(value, bool)
        and value not in (None, [], {})
        and not (isinstance(value, str) and value == own.get("nominatedNodeName"))
        and _SAYS_NOMINATED.search(name)
        and not _ELSEWHERE.match(name)
        and name not in _NO_PODS
    ]


def is_wrapped(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is {pod, node} rather than the pod itself."""
    return "pod" in entry and not isinstance(entry["pod"], list)


def is_bare(entry: Mapping[str, Any]) -> bool:
    """Whether an object is a pod rather than pods by node."""
    return not entry.keys().isdisjoint(("name", "uid", "priority", "requests"))


def nominated_pods(case: Case, nodes: Sequence[str]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each such pod once, and the node that the field or the pod itself names for it, or else an empty text. Pods that the case has anyway are left out.

    Raises NotTranslated for a node that is none of these.
    """
    held = [*_several(case.get("pods")), *_several(case.get("podsOnNode"))]
    seen = {_identity(pod) for pod in held if pod.get("nominatedNodeName")}
    for name in nomination_fields(case):
        for pod, told in _pods(case[name]):
            node = told or pod.get("nominatedNodeName") or ""
            if node and node not in nodes:
                raise NotTranslated(f"{name}: there is no node {node}")
            if _identity(pod) not in seen:
                seen.add(_identity(pod))
                yield pod, node


def _several(told: Any) -> Iterable[Mapping[str, Any]]:
    return (told.values() if isinstance(told, Mapping) else told) or ()


def _identity(pod: Mapping[str, Any]) -> tuple[Any, ...]:
    """What tells a pod from others; one without a name is like no other."""
    return (pod.get("namespace") or "", pod["name"]) if pod.get("name") else (id(pod),)


def _pods(told: Any, node: str = "") -> Iterator[tuple[Mapping[str, Any], str]]:
    if isinstance(told, list):
        for entry in told:
            yield from _entry(entry, node)
    elif is_wrapped(told) or is_bare(told):
        yield from _entry(told, node)
    else:
        for name, pods in told.items():
            for entry in pods if isinstance(pods, list) else [pods]:
                yield from _entry(entry, name)


def _entry(entry: Mapping[str, Any], node: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    own = next((entry[name] for name in _NODE if isinstance(entry.get(name), str) and entry[name]), "")
    if is_wrapped(entry):
        yield entry["pod"], own or node
    else:
        yield entry, entry.get("node") or node


_NODE = ("node", "nodeName", "nominatedNodeName")
"""Where an entry that has a pod names its node."""
