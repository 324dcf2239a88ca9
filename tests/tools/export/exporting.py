"""A system in the language of another checker, of a scenario or of the user's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from podrace.analysis.findings import ignored_words, silence_of
from podrace.analysis.own_systems import OwnSystem
from podrace.analysis.request.plan import Run, Selection, at_any_time, plan, refuse_all_ignored
from podrace.analysis.systems import refuse_ranges
from podrace.base.problems import UsageProblem
from podrace.checker.reduction.questions import UnknownProperty, explored_slice, kind_of, properties_of
from podrace.model.language import TransitionSystem
from podrace.properties import instrument
from tests.tools.export import to_promela, to_tlaplus


def exported(selection: Selection, language: str, whole: bool, output: Path | None) -> dict[Path | None, str]:
    """The texts of the files for the one system that is selected; None stands for stdout. Raises Problem.

    `language` is `promela` (for SPIN) or `tlaplus` (for TLC); `output` is the first file, whose name a TLA+ module has.
    """
    planned = plan(selection)
    refuse_all_ignored(planned)
    runs = [one for one in planned if not one.ignored]
    run = _only(runs, whole)
    run = replace(run, scenario=at_any_time(run.scenario))
    refuse_ranges(run.scenario)
    if run.prop.kind == "liveness" and not whole:
        raise UsageProblem(
            f"{run.property} asks what must not go on indefinitely, which is no invariant: name another --property, or add --whole"
        )
    ignored = [one for one in planned if one.ignored and one.scenario.name == run.scenario.name]
    asked = [r.prop for r in runs if r.prop.kind != "liveness"]
    system = instrument(run.scenario.spec, run.composition.classes, asked)
    if not whole:
        system = explored_slice(system, run.property)
    try:
        if language == "promela":
            return {output: to_promela(system, about(runs, system, whole, ignored) + PROMELA_COMMANDS)}
        return tla_files(system, about(runs, system, whole, ignored), output, run.scenario.name)
    except ValueError as error:
        # Raised for what the other checker cannot represent.
        hint = "; without --whole, what the property cannot see is left out" if whole else ""
        raise UsageProblem(f"{run.scenario.name} cannot be written for SPIN: {error}{hint}") from None


def _only(runs: list[Run], whole: bool) -> Run:
    scenarios = list(dict.fromkeys(run.scenario.name for run in runs))
    if len(scenarios) > 1:
        raise UsageProblem(f"one scenario at a time: name one of {', '.join(scenarios)}")
    if len(runs) > 1 and not whole:
        names = ", ".join(run.property for run in runs)
        raise UsageProblem(f"{scenarios[0]} has several properties: add --property with one of {names}")
    return runs[0]


def about(runs: list[Run], system: TransitionSystem, whole: bool, ignored: Sequence[Run] = ()) -> str:
    """What the file is, for its first lines."""
    run = runs[0]
    extent = "the whole system" if whole else "the part that this property can see"
    lines = [
        f"{run.scenario.name}, scheduler {run.composition.label}, {', '.join(r.property for r in runs)}: {extent}.",
        "",
    ]
    for r in runs:
        prop = r.prop
        lines.append(f"{prop.id}: {prop.sentence()}{silence_of(r)}")
        if prop.kind == "resettability":
            lines.append(
                "This property asks what stays possible, which is no invariant: it is defined but not checked here."
            )
    lines += [f"{r.property}: {ignored_words(r)}" for r in ignored]
    lines += ["", f"{len(system.variables)} variables, {len(system.transitions)} transitions."]
    return "\n".join(lines)


PROMELA_COMMANDS = """

To visit every reachable state, exactly:
    spin -a -o2 FILE
    gcc -O3 -w -DSAFETY -DNOREDUCE -o pan pan.c
    ./pan -c0 -E -b -m10000000
Without -c0 it stops at the first violation."""


def tla_files(
    system: TransitionSystem, about: str, output: Path | None, scenario: str
) -> dict[Path | None, str]:
    """The files of a TLA+ module; without `output`, both in one text. Raises UsageProblem for a name that a module cannot have."""
    if output is None:
        module = to_tlaplus(system, about, scenario)
        return {None: f"{module.text}\nThe configuration, for {module.name}.cfg:\n\n{module.configuration}"}
    if output.suffix != ".tla" or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", output.stem):
        raise UsageProblem(
            f"--output: `{output}` is no name for a TLA+ module: use letters, digits and _, then .tla"
        )
    module = to_tlaplus(system, about, output.stem)
    if module.name != output.stem:
        raise UsageProblem(f"--output: `{output.stem}` means something in TLA+: choose another name")
    return {output: module.text, output.with_suffix(".cfg"): module.configuration}


def exported_own(
    own: OwnSystem, language: str, whole: bool, property_id: str | None, output: Path | None
) -> dict[Path | None, str]:
    """The texts of the files for another checker; `language` is `promela` or `tlaplus`. Raises UsageProblem."""
    try:
        names = properties_of(own.system, [property_id] if property_id else None)
    except (UnknownProperty, ValueError) as error:
        raise UsageProblem(f"{own.name}: {error}") from None
    if not whole and len(names) > 1:
        raise UsageProblem(
            f"{own.name} has several properties: add --property with one of {', '.join(names)}, or --whole"
        )
    if not whole and kind_of(own.system, names[0]) == "liveness":
        raise UsageProblem(
            f"{names[0]} asks what must not go on indefinitely, which is no invariant: name another --property, or add --whole"
        )
    system = own.system if whole else explored_slice(own.system, names[0])
    extent = "the whole system" if whole else f"the part that {names[0]} can see"
    about = "\n".join([
        f"{own.name}: {extent}.", "", *(f"{name}: {own.says(name)}" for name in names), "",
        f"{len(system.variables)} variables, {len(system.transitions)} transitions.",
    ])  # fmt: skip
    try:
        if language == "promela":
            return {output: to_promela(system, about + PROMELA_COMMANDS)}
        return tla_files(system, about, output, own.system.name)
    except ValueError as error:
        raise UsageProblem(f"{own.name} cannot be written for SPIN: {error}") from None
