"""What a pod asks for, as the scheduler sums it up (component-helpers resource.PodRequests, 1.29; before, no container
that starts first could be a sidecar).
"""

from __future__ import annotations

from collections.abc import Mapping

from .documents import Manifest
from .quantities import Amounts, is_counted, read_amount, read_amounts

_CONTAINER_FIELDS = ("resources", "restartPolicy")


def requests_of(fields: Mapping[str, Manifest]) -> dict[str, int]:
    """The greater of what the containers ask for together and what starting them takes, plus the overhead."""
    running: dict[str, int] = {}
    for container in _containers(fields, "containers"):
        _add(running, _requests(container))
    beside: dict[str, int] = {}
    starting: dict[str, int] = {}
    for container in _containers(fields, "initContainers"):
        asked, stays = _requests(container), _stays(container)
        if stays:
            _add(beside, asked)
            _raise(starting, beside)
        else:
            _raise(starting, _sum(beside, asked))
    total = _sum(running, beside)
    _raise(total, starting)
    if (
        "resources" in fields
    ):  # of the pod as a whole: takes the place of its containers' (on by default since 1.34)
        total |= _requests(fields["resources"])
    _add(total, read_amounts(fields.get("overhead")))
    return total


def _containers(fields: Mapping[str, Manifest], name: str) -> list[Mapping[str, Manifest]]:
    if name not in fields:
        return []
    elements = fields[name].elements("a list of containers")
    if not elements and name == "containers":
        fields[name].fail("the list is empty: a pod has at least one container")
    return [e.fields(_CONTAINER_FIELDS, "a container: a mapping") for e in elements]


def _requests(value: Mapping[str, Manifest] | Manifest) -> dict[str, int]:
    """The requests; where there are only limits, these (as the API server fills in)."""
    resources = value if isinstance(value, Manifest) else value.get("resources")
    if resources is None:
        return {}
    given = resources.fields(("requests", "limits"), "a mapping with `requests` and `limits`")
    asked, limits = read_amounts(given.get("requests")), read_amounts(given.get("limits"))
    if "requests" in given and "limits" in given:
        _refuse_excess(given["requests"], asked, limits)
    return {**limits, **asked}


def _refuse_excess(place: Manifest, asked: Amounts, limits: Amounts) -> None:
    for key, value in place.items("a mapping"):
        name = key.node.value
        if is_counted(name) and read_amount(name, value) > limits.get(name, asked[name]):
            value.fail(f"the request {value.described} is more than the limit: lower it, or raise the limit")


def _stays(container: Mapping[str, Manifest]) -> bool:
    return "restartPolicy" in container and container["restartPolicy"].scalar("a policy") == "Always"


def _add(total: dict[str, int], more: Amounts) -> None:
    for resource, amount in more.items():
        total[resource] = total.get(resource, 0) + amount


def _sum(one: Amounts, other: Amounts) -> dict[str, int]:
    found = dict(one)
    _add(found, other)
    return found


def _raise(least: dict[str, int], to: Amounts) -> None:
    for resource, amount in to.items():
        least[resource] = max(least.get(resource, 0), amount)
