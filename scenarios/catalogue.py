"""The scenarios that come with podrace, and how a user names one."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ..base.problems import Problem
from ..base.text import nearest_names, one_line
from .reader.scenario import Scenario
from .reader.scenario_reader import read_scenario

HERE = Path(__file__).parent
_VERSION = re.compile(r"v?1\.[0-9]{1,3}(\.[0-9]{1,3})?", re.ASCII)
_NUMBER = re.compile(
    r"(?:(?:https://github\.com/)?kubernetes/kubernetes)?(?:#|/issues/|/pull/)?([0-9]{1,9})", re.ASCII
)


def number_of(text: str) -> str | None:
    """The number that `72124`, `#72124`, `kubernetes/kubernetes#72124` or a link to it stands for."""
    match = _NUMBER.fullmatch(text)
    return match[1] if match else None


@cache
def catalogue() -> tuple[Scenario, ...]:
    """All scenarios that come with podrace, in the order of their issues, others after them by name."""
    found = [_read(path) for path in sorted(HERE.glob("*.yaml"))]
    names = [s.name for s in found]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise Problem(f"scenarios: two files are named `{twice}`: rename one of them")
    return _in_order(found)


def _in_order(found: Iterable[Scenario]) -> tuple[Scenario, ...]:
    return tuple(sorted(found, key=lambda s: (s.race is None, s.race.issue if s.race else 0, s.name)))


@cache
def _read(path: Path) -> Scenario:
    return read_scenario(path, f"scenarios/{path.relative_to(HERE).as_posix()}")


def selected(wanted: str) -> tuple[Scenario, ...]:
    """Those of the catalogue that `wanted` selects; only files that speak of it are read whole."""
    files = (
        path
        for path in sorted(HERE.glob("*.yaml"))
        if wanted == path.stem or wanted in path.read_text(encoding="utf-8")
    )
    return _in_order(s for s in map(_read, files) if wanted in s.selectors)


def _beside(wanted: str) -> tuple[Scenario, ...]:
    """Those in the folders beside the catalogue, such as the open hazards, that have this name."""
    files = (path for path in sorted(HERE.glob("*/*.yaml")) if wanted in path.read_text(encoding="utf-8"))
    return tuple(scenario for scenario in map(_read, files) if scenario.name == wanted)


@cache
def hazards() -> tuple[Scenario, ...]:
    """The open hazards that docs/hazards.md is about, by name: scenarios of releases that are in use."""
    return tuple(sorted(map(_read, (HERE / "hazards").glob("*.yaml")), key=lambda s: s.name))


def shipped() -> list[Scenario]:
    """All scenarios that come with podrace: the hazards, the catalogue, and the other folders beside it."""
    others = (path for path in sorted(HERE.glob("*/*.yaml")) if path.parent.name != "hazards")
    return [*hazards(), *catalogue(), *map(_read, others)]


def _is_there(path: Path) -> bool:
    """Whether there is something of this name; what can be no name of a file, as it is too long, names nothing."""
    try:
        return path.exists()
    except OSError:
        return False


def find_scenarios(name: str) -> list[Scenario]:
    """The scenarios that a NAME or FILE stands for: a file, a name in the catalogue or in a folder beside it, or the number of an issue or fix.

    Raises Problem if there is none.
    """
    path = Path(name)
    if path.suffix == ".py":
        raise Problem(
            f"{one_line(name)}: a scenario is a YAML file; systems of your own in Python are for `check` and `export`"
        )
    if path.suffix in (".yaml", ".yml") or (number_of(name) is None and ("/" in name or name in (".", ".."))):
        return [read_scenario(path, name)]
    wanted = number_of(name) or name
    found = selected(wanted) or _beside(wanted)
    if not found:
        if _is_there(path):
            shown, objects = one_line(name), f"`check -f {one_line(name)}` reads Kubernetes objects"
            if path.is_dir():
                raise Problem(f"`{shown}` is a directory: name the scenario files in it; {objects}")
            raise Problem(
                f"unknown scenario `{shown}`, but there is a file of that name: `./{shown}` is a scenario file, {objects}"
            )
        if _VERSION.fullmatch(name):
            raise Problem(
                f"`{name}` is a version: name a scenario, such as gone-victim, and add --release {name}"
            )
        if re.fullmatch("[A-Z]-[A-Z]+", name):
            raise Problem(
                f"`{name}` looks like a property: name a scenario, and add --property {name}; `podrace properties {name}` explains it"
            )
        known = [s.name for s in (*catalogue(), *hazards())]
        raise Problem(
            f"unknown scenario `{one_line(name)}`; {nearest_names(name, known)}`podrace races` and `podrace hazards` list all; "
            "or name a YAML file, such as ./mine.yaml"
        )
    return list(found)
