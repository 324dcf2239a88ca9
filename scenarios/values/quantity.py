"""Quantities as Kubernetes writes them (apimachinery, resource.Quantity), converted exactly."""

import re
from collections.abc import Iterable
from fractions import Fraction
from math import gcd, lcm

_CPU = re.compile(r"([0-9]{1,9})(\.[0-9]{1,9})?(m?)", re.ASCII)
_BYTES = re.compile(r"([0-9]{1,19})(\.[0-9]{1,9})?([KMGTP]i|[kMGTP]|[eE][0-9]{1,2})?", re.ASCII)
_COUNT = re.compile(r"[0-9]{1,16}", re.ASCII)

MAX_CORES = 1_000_000
MAX_BYTES = 1 << 50
MAX_COUNT = MAX_BYTES  # vendors count memory in pieces, too, as in kubernetes.io/batch-memory

_BINARY = {f"{letter}i": 1 << (10 * power) for power, letter in enumerate("KMGTP", 1)}
_DECIMAL = {letter: 10 ** (3 * power) for power, letter in enumerate("kMGTP", 1)}


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


def parse_bytes(text: str) -> Fraction | None:
    """The number of bytes that "1000", "128Mi", "1.5G" or "1e9" stands for; None if it is no whole number up to 1Pi."""
    match = _BYTES.fullmatch(text)
    if match is None:
        return None
    suffix = match[3] or ""
    if suffix[:1] in ("e", "E"):
        scale = 10 ** int(suffix[1:])
    else:
        scale = {**_BINARY, **_DECIMAL, "": 1}[suffix]
    found = Fraction(match[1] + (match[2] or "")) * scale
    return found if found.denominator == 1 and found <= MAX_BYTES else None


def parse_count(text: str) -> Fraction | None:
    """The whole number that a text stands for; None if it is none up to MAX_COUNT."""
    if not _COUNT.fullmatch(text) or int(text) > MAX_COUNT:
        return None
    return Fraction(int(text))


def unit_of(quantities: Iterable[Fraction]) -> Fraction:
    """The greatest unit of which all quantities are whole multiples; 1 if there is nothing to measure."""
    some = [q for q in quantities if q]
    if not some:
        return Fraction(1)
    return Fraction(gcd(*(q.numerator for q in some)), lcm(*(q.denominator for q in some)))


def show_cpu(cores: Fraction) -> str:
    """A quantity as Kubernetes prints it: whole cores, or milli."""
    return str(cores.numerator) if cores.denominator == 1 else f"{cores * 1000}m"


def show_bytes(amount: Fraction) -> str:
    """A number of bytes, as short as Kubernetes' suffixes allow."""
    shown = [str(amount)]
    for suffix, scale in {**_BINARY, **_DECIMAL}.items():
        if amount and amount % scale == 0:
            shown.append(f"{amount / scale}{suffix}")
    return min(shown, key=len)


def cpu_in_suffix(cores: Fraction, written: Iterable[str]) -> tuple[int, str]:
    """A number of cores as a whole number with a suffix: none, or m."""
    return (cores.numerator, "") if cores.denominator == 1 else (int(cores * 1000), "m")


def bytes_in_suffix(amount: Fraction, written: Iterable[str]) -> tuple[int, str]:
    """A number of bytes as a whole number with the greatest suffix that is among those written; none if none will do."""
    used = {match[3] or "" for text in written if (match := _BYTES.fullmatch(text))}
    scales = {**_BINARY, **_DECIMAL}
    fitting = [s for s in used if s in scales and amount % scales[s] == 0]
    best = max(fitting, key=lambda s: scales[s], default="")
    return int(amount / scales.get(best, 1)), best


def count_in_suffix(amount: Fraction, written: Iterable[str]) -> tuple[int, str]:
    """A number of pieces."""
    return int(amount), ""
