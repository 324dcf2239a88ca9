"""CPU quantities as Kubernetes writes them, converted exactly to whole numbers of one unit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

_CPU = re.compile(r"([0-9]{1,9})(\.[0-9]{1,9})?(m?)", re.ASCII)

MAX_CORES = 1_000_000


def parse_cpu(text: str) -> Fraction | None:
    """The number of cores that "2", "0.5" or "500m" stands for; None if it is no CPU quantity.

    Like the API server, accepts nothing finer than 1m.
    """
    match = _CPU.fullmatch(text)
    if match is None:
        return None
    cores = Fraction(match[1] + (match[2] or "")) / (1000 if match[3] else 1)
    if (cores * 1000).denominator != 1 or cores > MAX_CORES:
        return None
    return cores


def unit_of(quantities: Iterable[Fraction]) -> int:
    """How many units make one core: 1 if all quantities are whole cores, otherwise 1000."""
    return 1 if all(q.denominator == 1 for q in quantities) else 1000


def show_cpu(cores: Fraction) -> str:
    """A quantity as Kubernetes prints it: whole cores, or milli."""
    return str(cores.numerator) if cores.denominator == 1 else f"{cores * 1000}m"
