"""Quantities of manifests (apimachinery, resource.Quantity) as the scheduler counts them: whole milli-CPUs, bytes, pieces.

The scheduler asks a quantity for MilliValue or Value, which round up; nothing here passes through floating point. What a pod
asks for is summed up as by the scheduler (component-helpers resource.PodRequests, 1.29; before, no container that starts first
could be a sidecar).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from math import ceil

from ...base.structs import Data
from ...model.environment.objects import NATIVE, is_scalar_resource
from ...scenarios.values.quantity import MAX_BYTES, MAX_CORES, MAX_COUNT
from ...scenarios.values.yaml_values import Value
from .manifest_values import Fields

_FORM = re.compile(
    r"\+?(?=\.?[0-9])([0-9]{0,19})(?:\.([0-9]{0,18}))?([eE][+-]?[0-9]{1,2}|[KMGTPE]i|[numkMGTPE])?", re.ASCII
)
_OCTAL = re.compile(r"\+?0[0-7]+", re.ASCII)
_DECIMAL = {letter: Fraction(10) ** (3 * power) for power, letter in enumerate("num", -3)}
_DECIMAL |= {letter: Fraction(10) ** (3 * power) for power, letter in enumerate("kMGTPE", 1)}
_BINARY = {f"{letter}i": Fraction(1 << (10 * power)) for power, letter in enumerate("KMGTPE", 1)}

Amounts = Mapping[str, int]
"""By resource: thousandths of a CPU, bytes of memory, storage and huge pages, pieces of anything else."""


def parse_quantity(text: str) -> Fraction | None:
    """The number that a quantity such as 2, 0.5, 500m, 128Mi, 1.5G or 1e9 stands for; None if it is none, or negative."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    digits, suffix = Fraction(f"{match[1] or 0}.{match[2] or 0}"), match[3] or ""
    if suffix[:1] in ("e", "E") and suffix[1:] not in ("", "i"):
        return digits * Fraction(10) ** int(suffix[1:])
    return digits * {"": Fraction(1), **_DECIMAL, **_BINARY}[suffix]


def read_quantity(value: Value, wanted: str) -> Fraction | None:
    """The number that a value of a manifest stands for; None if it is no quantity. What kubectl would read as octal is refused."""
    written = value.scalar(wanted)
    if value.is_number and _OCTAL.fullmatch(written):
        value.fail(
            f"`{written}` is an octal number to kubectl: write it without the zero in front, or in quotes"
        )
    return parse_quantity(written)


def is_counted(resource: str) -> bool:
    """Whether the scheduler counts this resource."""
    return resource in NATIVE or is_scalar_resource(resource)


def read_amount(resource: str, value: Value, most: Callable[[str], None] | None = None) -> int:
    """How much of a resource, rounded up as the scheduler does.

    What is more than podrace counts is refused; or if `most` is given, it is told of the resource, and the greatest amount is taken.
    """
    amount = _rounded(resource, read_quantity(value, _wanted(resource)))
    if amount is None:
        value.expect(_wanted(resource))
    if amount <= _most(resource):
        return amount
    if most is None:
        value.expect(_wanted(resource))
    most(resource)
    return _most(resource)


def _rounded(resource: str, quantity: Fraction | None) -> int | None:
    """As the scheduler rounds up; None for no quantity, and for a part of a piece."""
    if quantity is None or (quantity.denominator != 1 and resource != "cpu" and not _in_bytes(resource)):
        return None
    return ceil(quantity * 1000 if resource == "cpu" else quantity)


def read_amounts(value: Value | None, most: Callable[[str], None] | None = None) -> dict[str, int]:
    """The amounts of a resource list that the scheduler counts; `most` as for read_amount."""
    if value is None:
        return {}
    pairs = value.items("a mapping from resources to quantities")
    return {
        key.node.value: read_amount(key.node.value, v, most) for key, v in pairs if is_counted(key.node.value)
    }


def amounts_of(written: Mapping[str, str | int | float] | None) -> dict[str, int]:
    """The same of a resource list that is no manifest's. Raises ValueError for an amount that podrace cannot count."""
    found = {r: _rounded(r, parse_quantity(str(q))) for r, q in (written or {}).items() if is_counted(r)}
    counted = {r: amount for r, amount in found.items() if amount is not None and amount <= _most(r)}
    if len(counted) < len(found):
        raise ValueError("no quantity, or a greater one than podrace counts")
    return counted


def write_amount(resource: str, amount: int) -> str | int:
    """An amount as a scenario has it."""
    if resource == "cpu":
        return amount // 1000 if amount % 1000 == 0 else f"{amount}m"
    if amount and _in_bytes(resource):
        for suffix, scale in reversed(_BINARY.items()):
            if amount % scale == 0:
                return f"{amount // int(scale)}{suffix}" if suffix != "Ei" else amount
    return amount


def _in_bytes(resource: str) -> bool:
    return resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")


def _most(resource: str) -> int:
    return MAX_CORES * 1000 if resource == "cpu" else MAX_BYTES if _in_bytes(resource) else MAX_COUNT


def most_of(resource: str) -> str | int:
    """The greatest amount that podrace counts, as Kubernetes writes it."""
    if resource == "cpu":
        return MAX_CORES
    return "1Pi" if _in_bytes(resource) else MAX_COUNT


def _wanted(resource: str) -> str:
    if resource == "cpu":
        return f"a CPU quantity from 0 to {MAX_CORES} such as 2, 0.5 or 500m"
    if _in_bytes(resource):
        return "a quantity of bytes from 0 to 1Pi such as 1000, 128Mi or 1.5G"
    return f"a whole number from 0 to {MAX_COUNT}"


RESTARTS = ("Always", "OnFailure", "Never")

Counted = Callable[[str, Amounts], Amounts]
"""What a container of a name counts for that asks for so much."""


class Asked(Data):
    """What a container, or a pod as a whole, asks for."""

    requests: Amounts
    limits: Amounts

    @property
    def counted(self) -> dict[str, int]:
        """The requests; where there are only limits, these (as the API server fills in)."""
        return {**self.limits, **self.requests}

    @property
    def excessive(self) -> list[str]:
        """The resources of which more is requested than the limit, which the API server refuses."""
        return [r for r, amount in self.requests.items() if amount > self.limits.get(r, amount)]


def total_of(
    running: Iterable[Amounts],
    starting: Iterable[tuple[Amounts, bool]],
    whole: Asked | None,
    overhead: Amounts,
) -> dict[str, int]:
    """The greater of what the containers ask for together and what starting them takes, plus the overhead.

    `starting` are the init containers in their order, each with whether it goes on running. `whole` takes the place of what containers ask
    for (on by default since 1.34): a limit alone is a request where no container asks for the resource, and of huge pages
    (defaultPodRequests in core/v1/defaults.go, 1.36).
    """
    beside: dict[str, int] = {}
    most: dict[str, int] = {}
    for asked, stays in starting:
        now = _sum(beside, asked)
        _raise(most, now)
        beside = now if stays else beside
    total = _sum(*running, beside)
    _raise(total, most)
    if whole is not None:
        total |= {
            resource: amount
            for resource, amount in whole.counted.items()
            if resource in whole.requests or resource not in total or resource.startswith("hugepages-")
        }
    return _sum(total, overhead)


def requests_of(fields: Fields, counted: Counted = lambda _, asked: asked) -> dict[str, int]:
    """What a pod specification asks for. `counted` has a say where a container that runs, a sidecar too, may have something else than it asks for."""

    def of(container: Fields, runs: bool) -> Amounts:
        asked = _asked(container).counted
        return counted(container.scalar("name", "the name of a container"), asked) if runs else asked

    if "containers" in fields and not fields["containers"].elements("a list of containers"):
        fields["containers"].fail("the list is empty: a pod has at least one container")
    running = [of(container, True) for container in _containers(fields, "containers")]
    starting = [(of(c, s), s) for c in _containers(fields, "initContainers") for s in [_stays(c)]]
    whole = _asked(fields) if "resources" in fields else None
    return total_of(running, starting, whole, read_amounts(fields.get("overhead")))


def _containers(fields: Fields, name: str) -> list[Fields]:
    return list(fields.mappings(name, "a list of containers", "a container: a mapping"))


def _asked(owner: Fields) -> Asked:
    given = owner.below("resources", "a mapping with `requests` and `limits`")
    asked = Asked(read_amounts(given.get("requests")), read_amounts(given.get("limits")))
    for key, value in given["requests"].items("a mapping") if asked.excessive else ():
        if key.node.value in asked.excessive:
            value.fail(f"the request {value.described} is more than the limit: lower it, or raise the limit")
    return asked


def _stays(container: Fields) -> bool:
    return (
        "restartPolicy" in container
        and container.one_of("restartPolicy", RESTARTS, "a restart policy") == "Always"
    )


def _sum(*some: Amounts) -> dict[str, int]:
    total: Counter[str] = Counter()
    for amounts in some:
        total.update(amounts)
    return dict(total)


def _raise(least: dict[str, int], to: Amounts) -> None:
    for resource, amount in to.items():
        least[resource] = max(least.get(resource, 0), amount)
