"""A scenario out of a few facts: the kind of report, nodes, pods with sizes and priorities, and what else may happen."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from ...base.problems import UsageProblem
from ...base.structs import Data
from ...base.text import one_line
from ...scenarios import parse_scenario

ROLES = ("BOUND", "FIRST", "SECOND")
PLACE = "NODE"
_ROLE = re.compile("|".join((*ROLES, PLACE)))
_NEEDED = {"BOUND": "a bound pod", "FIRST": "a pending pod", "SECOND": "two pending pods"}


class Facts(Data, slots=False):
    """What the options say: `NAME=CPU`, `NAME=CPU[,PRIORITY[,NODE]]`, and bounds of the scope."""

    nodes: Sequence[str] = ()
    pods: Sequence[str] = ()
    may: Sequence[str] = ()


class Started(Data, slots=False):
    """The text of a scenario file, and the command that asks the first question."""

    text: str
    command: str


@cache
def kinds() -> Mapping[str, Mapping[str, Any]]:
    """The kinds of report by name."""
    text = files("podrace.cli.starting").joinpath("kinds.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, Any]] = yaml.safe_load(text)
    return found


def started(kind: str, facts: Facts, file: str, name: str) -> Started:
    """The scenario that the facts give, which is read once before it is written. Raises Problem."""
    if kind not in kinds():
        known = "; ".join(f"{name}: {row['title']}" for name, row in kinds().items())
        raise UsageProblem(f"--from: unknown kind of report `{one_line(kind)}`: there are {known}")
    row = kinds()[kind]
    nodes = _nodes(facts.nodes or row["facts"]["nodes"])
    place = next(iter(nodes))
    given = facts.pods or [pod.replace(PLACE, place) for pod in row["facts"]["pods"]]
    pods = _pods(given)
    roles = {PLACE: place, **_roles(pods)}

    def said(text: str) -> str:
        return _ROLE.sub(lambda role: _meant(role[0], roles, kind), text)

    nodes[place] |= row.get("nodes", {})
    for role, more in row.get("pods", {}).items():
        pods[said(role)] |= more
    scope = {"flush": False, **row.get("scope", {}), **dict.fromkeys(facts.may, 1)}
    question = [said(step) for step in row["ask"]]
    command = shlex.join(["podrace", "ask", file, *question])
    lines = [
        f"# {row['title']}. docs/scenarios.md lists every field.",
        f"# The first question: {command}",
        f"name: {_flow(name)}",
        f"title: {_flow(row['title'])}",
        f"properties: {_flow(row['properties'])}",
        "nodes:",
        *(f"  {_flow(node)}: {_flow(has)}" for node, has in nodes.items()),
        "pods:",
        *(f"  {_flow(pod)}: {_flow(has)}" for pod, has in pods.items()),
        f"scope: {_flow(scope)}",
    ]
    text = "\n".join(lines) + "\n"
    parse_scenario(text, file)
    return Started(text, command)


def _nodes(given: Sequence[str]) -> dict[str, dict[str, Any]]:
    return {name: {"cpu": _number(cpu)} for name, (cpu,) in _split("--node", given, "NAME=CPU", 1)}


def _pods(given: Sequence[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, (cpu, *more) in _split("--pod", given, "NAME=CPU[,PRIORITY[,NODE]]", 3):
        found[name] = {"cpu": _number(cpu)}
        for key, value in zip(("priority", "nodeName"), more, strict=False):
            found[name][key] = _number(value)
    return found


def _split(option: str, given: Sequence[str], form: str, most: int) -> Iterator[tuple[str, list[str]]]:
    names: set[str] = set()
    for one in given:
        name, _, rest = one.partition("=")
        values = rest.split(",")
        if not name or not all(values) or len(values) > most:
            raise UsageProblem(f"{option}: `{one_line(one)}`: write {form}")
        if name in names:
            raise UsageProblem(f"{option}: `{one_line(name)}` comes twice: give each a name of its own")
        names.add(name)
        yield name, values


def _number(text: str) -> int | str:
    return int(text) if re.fullmatch("-?[0-9]{1,9}", text, re.ASCII) else text


def _roles(pods: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    bound = [name for name, has in pods.items() if "nodeName" in has]
    pending = [name for name in pods if name not in bound]
    return {**dict(zip(ROLES[:1], bound, strict=False)), **dict(zip(ROLES[1:], pending, strict=False))}


def _meant(role: str, roles: Mapping[str, str], kind: str) -> str:
    if role not in roles:
        raise UsageProblem(f"--pod: a report of the kind `{kind}` needs {_NEEDED[role]}: add one")
    return roles[role]


def _flow(value: Any) -> str:
    """A value as YAML on one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10_000)
    return text.removesuffix("\n").removesuffix("\n...")
