"""What users write in options, turned into values; every mistake is a UsageProblem with the remedy."""

import re
from collections.abc import Sequence

from ...base.problems import UsageProblem
from ...base.text import nearest_fixes, nearest_names, one_line
from ...scenarios import number_of

_NUMBER = re.compile(r"([0-9][0-9_]{0,15})([kmg]?)", re.ASCII | re.IGNORECASE)
_MEMORY = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,3}))?([kmgt])(i?)b?", re.ASCII | re.IGNORECASE)
_TIME = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)(ms|s|m|h|)", re.ASCII | re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}

MOST_OBJECTS = 6
"""Of more pods or nodes than this, `podrace prove` does not look at all clusters."""

MOST_JOBS = 256
"""More threads than this have nothing to gain from a search."""

MOST_PARTS = 10_000
"""Into more parts than this no clusters are divided."""


def parse_states(text: str) -> int:
    """A number of states such as 5000000, 5_000_000 or 5M."""
    number = _scaled(text)
    if number < 1:
        raise UsageProblem(
            f"--max-states: `{one_line(text)}` is no number of states: write for example 5000000 or 5M"
        )
    return number


def parse_memory(text: str) -> int:
    """A number of bytes such as 4G, 512M or 1.5Gi; letters mean powers of 1024. A number without a letter is refused."""
    match = _MEMORY.fullmatch(text)
    number = 0
    if match is not None:
        scale = 1024 ** " kmgt".index(match[3].lower())
        number = int(float(f"{match[1]}.{match[2] or 0}") * scale)
    if number < 1:
        raise UsageProblem(
            f"--max-memory: `{one_line(text)}` is no amount of memory: write for example 4G or 512M"
        )
    return number


def scaled_down(number: float) -> str:
    """A number with at most three digits before its letter."""
    for letter, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= scale:
            return f"{number / scale:.1f}{letter}"
    return f"{number:.0f}"


def bytes_in_words(count: int) -> str:
    """Bytes, rounded."""
    for letter, scale in (("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.1f} {letter}iB".replace("kiB", "KiB")
    return f"{count} B"


def parse_timeout(text: str) -> float:
    """A duration such as 60s, 5m, 1h or 90 (seconds)."""
    seconds = _seconds("--timeout", text, "60s, 5m or 1h")
    if seconds <= 0:
        raise _no_duration("--timeout", text, "60s, 5m or 1h")
    return seconds


def parse_skew(text: str) -> float:
    """By how many seconds clocks may differ; 0 for not at all."""
    return _seconds("--clock-skew", text, "50ms or 2s, or 0")


def parse_closing(text: str) -> float:
    """How long to look for what closes a race; 0 for not at all."""
    return _seconds("--closing", text, "20s or 1m, or 0")


def _seconds(option: str, text: str, such_as: str) -> float:
    match = _TIME.fullmatch(text)
    if match is None:
        raise _no_duration(option, text, such_as)
    return float(match[1]) * _SECONDS[match[2].lower()]


def _no_duration(option: str, text: str, such_as: str) -> UsageProblem:
    return UsageProblem(f"{option}: `{one_line(text)}` is not a duration: use for example {such_as}")


def parse_size(option: str, text: str) -> int:
    """A number of pods or nodes."""
    return _count(option, text, MOST_OBJECTS, "no size")


def parse_jobs(text: str) -> int:
    """A number of threads."""
    return _count("--jobs", text, MOST_JOBS, "no number of threads")


def parse_parts(text: str) -> int:
    """Into how many parts clusters are divided, such as 8."""
    number = _scaled(text)
    if not 1 <= number <= MOST_PARTS:
        raise UsageProblem(
            f"--parts: `{one_line(text)}` is no number of parts: write a number from 1 to {MOST_PARTS:,}, such as 8"
        )
    return number


def _scaled(text: str) -> int:
    """A number such as 5000, 5_000 or 5k; 0 for anything else."""
    match = _NUMBER.fullmatch(text)
    return int(match[1].replace("_", "")) * 1000 ** " kmg".index(match[2].lower() or " ") if match else 0


def _count(option: str, text: str, most: int, what: str) -> int:
    number = int(text) if re.fullmatch(r"[0-9]{1,4}", text, re.ASCII) else 0
    if not 1 <= number <= most:
        raise UsageProblem(f"{option}: `{one_line(text)}` is {what}: write a number from 1 to {most}")
    return number


FIRST_WITH_CLAIMS = "1.32"
"""The first release that is modelled with claims of devices and of volumes."""
FIRST_WITH_LISTS = "1.34"
FIRST_WITH_EXTENDED = "1.36"
"""The first release that is modelled with extended resources that devices back."""


def parse_gates(texts: Sequence[str]) -> dict[str, bool]:
    """Feature gates as upstream's option has them, such as SchedulerAsyncPreemption=false; several with commas between."""
    found: dict[str, bool] = {}
    for setting in (part.strip() for text in texts for part in text.split(",")):
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not name or not equals or value.lower() not in ("true", "false"):
            raise UsageProblem(f"--gate: `{one_line(setting)}`: write NAME=true or NAME=false")
        on = value.lower() == "true"
        try:
            known = known_gate(name)
        except UsageProblem as problem:
            raise UsageProblem(f"--gate: {problem}") from None
        if found.setdefault(known, on) is not on:
            raise UsageProblem(f"--gate: {known} is set to true and to false: leave out one of them")
    return found


def known_settings() -> tuple[str, ...]:
    """Every setting of a gate that is modelled in some release."""
    from ...model.history.versions.gates import gates

    names = [gate.name for gate in gates().values() if gate.how == "modelled"]
    return tuple(f"{name}={value}" for name in names for value in ("true", "false"))


def known_gate(name: str) -> str:
    """The name of a gate of the table, in any case of letters. Raises UsageProblem."""
    from ...model.history.versions.gates import gates

    for known in gates():
        if known.lower() == name.lower():
            return known
    raise UsageProblem(
        f"unknown gate `{one_line(name)}`; {nearest_names(name, gates())}`podrace gates` lists those that concern the scheduler"
    )


def parse_fix(text: str, known: Sequence[str]) -> str:
    """The key of an upstream change: 72259, #72259, kubernetes/kubernetes#72259 or its link, or another number that it has."""
    from ...model.history import key_of

    key = key_of(number_of(text) or text)
    if key not in known:
        raise UsageProblem(f"unknown fix `{one_line(text)}`; {nearest_fixes(key, known)}")
    return key


def nearest_properties(text: str, known: Sequence[str]) -> str:
    """A remedy for a property that is not known: the nearest that are, and the command that lists all."""
    return f"{nearest_names(text, known)}`podrace properties` lists all {len(known)}"


def parse_property(text: str, known: Sequence[str]) -> str:
    """The identifier of a property, in any case of letters."""
    for identifier in known:
        if identifier.lower() == text.lower():
            return identifier
    several = "one --property for each: " if "," in text else ""
    raise UsageProblem(f"unknown property `{one_line(text)}`; {several}{nearest_properties(text, known)}")
