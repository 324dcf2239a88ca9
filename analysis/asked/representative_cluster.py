"""From manifests to the scenario that represents them: what `podrace check -f` checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...manifests import Size, read_manifests, represent
from ...manifests.left_out import remarks_of
from ...manifests.scenario_text import scenario_of
from ...manifests.summary import account_of, caveat_of, title_of
from ...scenarios import Scenario, parse_scenario
from .option_files import refuse_unwritable, write_text
from .options import UsageProblem


@dataclass(frozen=True, slots=True)
class Manifests:
    """What the options about manifests ask for."""

    names: Sequence[str]
    recursive: bool = False
    strict: bool = False
    size: Size = field(default_factory=Size)
    focus: str | None = None
    write: Path | None = None


@dataclass(frozen=True, slots=True)
class Represented:
    """The scenario, what is to be said about it before the verdicts, and what beside each."""

    scenario: Scenario
    account: Sequence[str]
    caveat: str


def scenario_from(asked: Manifests, say: Callable[[str], None]) -> Represented:
    """Read, reduce, and write the scenario down if that is asked for; `say` is told what is to be remarked.

    Raises ScenarioError or UsageProblem.
    """
    if asked.write is not None:
        refuse_unwritable("--write-scenario", asked.write)
    inventory = read_manifests(asked.names, asked.recursive, asked.strict)
    for remark in inventory.remarks:
        say(f"note: {remark}")
    kept = represent(inventory, asked.size, asked.focus)
    for remark in remarks_of(kept):
        say(f"note: {remark}")
    account, caveat = account_of(kept), caveat_of(kept)
    text = scenario_of(kept, _name(asked.names), title_of(kept), account)
    file = str(asked.write) if asked.write is not None else _shown(asked.names)
    scenario = parse_scenario(text, file)
    if asked.write is not None:
        write_text("--write-scenario", asked.write, text)
        say(f"wrote {asked.write}")
    else:
        scenario = replace(scenario, lines={})  # those of a text that is in no file
    return Represented(scenario, account, caveat)


def parse_size(pods: str, nodes: str) -> Size:
    """The greatest representative."""
    return Size(_number("--pods", pods, 2), _number("--nodes", nodes, 1))


def _number(option: str, text: str, least: int) -> int:
    number = int(text) if re.fullmatch(r"[0-9]{1,3}", text, re.ASCII) else 0
    if not least <= number <= 16:
        raise UsageProblem(f"{option}: write a number from {least} to 16; each more multiplies the states")
    return number


def _shown(names: Sequence[str]) -> str:
    return "<stdin>" if names[0] == "-" else names[0]


def _name(names: Sequence[str]) -> str:
    """A name for the scenario: that of the first file, where it can be one."""
    stem = Path(names[0]).stem.lower()
    return stem if re.fullmatch(r"[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?", stem, re.ASCII) else "cluster"
