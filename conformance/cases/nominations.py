"""The pods of a case that wait with a nomination: which fields name them, and in which forms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .cases import Case, NotTranslated

_NO_PODS = ("nominatedNodeStatus",)
_SAYS_NOMINATED = re.compile(r"nominat(ed|ions?)", re.IGNORECASE)
_ELSEWHERE = re.compile(r"(expected|stub|note)", re.IGNORECASE)


def nomination_fields(case: Case) -> list[str]:
    """The fields whose names say that their pods are nominated, but for those that are null, and those that repeat where the case's own pod is."""
    own = case.get("pod") or case.get("preemptor") or {}
    return [
        name
        for name, value in case.items()
        if value is not None
        and not (isinstance(value, str) and value == own.get("nominatedNodeName"))
        and _SAYS_NOMINATED.search(name)
        and not _ELSEWHERE.match(name)
        and name not in _NO_PODS
    ]


def is_wrapped(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is {pod, node} rather than the pod itself."""
    said = isinstance(entry.get("pod"), Mapping) or isinstance(entry.get("node"), str)
    return said and not is_bare(entry)


def is_bare(entry: Mapping[str, Any]) -> bool:
    """Whether an object is a pod rather than pods by node."""
    return not entry.keys().isdisjoint(("name", "uid", "priority", "requests"))


def nominated_pods(case: Case, nodes: Sequence[str]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each such pod, and the node that the field names for it, or else an empty text.

    Raises NotTranslated for a node that is none of these.
    """
    for name in nomination_fields(case):
        for pod, node in _pods(case[name]):
            if node and node not in nodes:
                raise NotTranslated(f"{name}: there is no node {node}")
            yield pod, node


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
    if is_wrapped(entry):
        yield entry["pod"], entry.get("node") or node
    else:
        yield entry, node
