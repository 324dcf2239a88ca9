"""Scenario files with the verdicts that they expect: which files these are, and their runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...base.problems import Problem, UsageProblem
from ...base.text import one_line
from ...model.history import CHANGES
from ...properties import PROPERTIES, Property
from ...reports.document import Word
from ...scenarios import AskedOrder, Expectation, Scenario, read_scenario
from ...scenarios.values.yaml_values import parse_document, read_text
from ..ask.asked_property import asked_property
from ..ask.question import read_question
from .options import known_gate, parse_fix, parse_property
from .plan import Run, compose, compose_for, default_release, in_time, race_beside, refuse_unknown_ignored
from .release_names import parse_release

ENDINGS = (".yaml", ".yml")
SECTION = "expect"
SECTIONS = (SECTION, "ask")
"""The sections that say what should come out."""

_VERDICTS: Mapping[str, Word] = {"holds": "HOLDS", "violated": "VIOLATED"}


def files_to_test(paths: Sequence[Path]) -> tuple[list[Path], int]:
    """The files to check, and how many YAML files of the directories expect nothing. Raises Problem."""
    found: dict[Path, None] = {}
    skipped = 0
    for path in paths:
        if path.is_dir():
            candidates = sorted(p for p in path.rglob("*") if p.suffix in ENDINGS and _visible(p, path))
            chosen = [p for p in candidates if expects_something(p)]
            skipped += len(candidates) - len(chosen)
            found.update(dict.fromkeys(chosen))
        else:
            if path.exists() and not expects_something(path):
                read_scenario(path)  # raises what else is wrong with it
                raise Problem(
                    f"{one_line(str(path), 200)}: nothing is expected: add a section `{SECTION}`, as `podrace init` does"
                )
            found[path] = None
    if not found:
        where = ", ".join(one_line(str(path), 200) for path in paths)
        raise UsageProblem(
            f"no scenario file in {where} has a section `{SECTION}`: `podrace init` writes one"
        )
    return list(found), skipped


def skipped_words(skipped: int) -> str:
    """What is to be said of the YAML files that expect nothing."""
    noun = "1 YAML file has" if skipped == 1 else f"{skipped} YAML files have"
    return f"{noun} no section `{SECTION}` and took no part"


def runs_expected(
    files: Sequence[Path],
    own: Mapping[str, type[Property]],
    time: str | None = None,
    slow: Sequence[str] = (),
) -> list[Run]:
    """The runs of which these files expect something, with or without scales of time as `plan.in_time` has them. Raises Problem with the place of a mistake."""
    scenarios = [in_time(read_scenario(file, str(file)), time, slow) for file in files]
    return [run for scenario in scenarios for run in expected_runs(scenario, own)]


def _visible(path: Path, root: Path) -> bool:
    return path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts)


def expects_something(path: Path) -> bool:
    """Whether a YAML file has the section at its top. One that is no YAML for scenarios has it if a line begins with it."""
    file = one_line(str(path), 200)
    text = read_text(path, file)
    try:
        top = parse_document(text, file)
    except Problem:
        return any(line.startswith(tuple(f"{name}:" for name in SECTIONS)) for line in text.splitlines())
    pairs = getattr(top.node, "value", None) if not top.is_list and not top.is_scalar else ()
    return any(key.value in SECTIONS and not top.at(key.value, value).is_null for key, value in pairs or ())


def expected_runs(scenario: Scenario, own: Mapping[str, type[Property]]) -> list[Run]:
    """The runs that a scenario expects something of. Raises Problem with the place of a mistake."""
    refuse_unknown_ignored(scenario, own)
    return [
        *(_run(scenario, expectation, own) for expectation in scenario.expect),
        *(_asking(scenario, asked) for asked in scenario.asks),
    ]


def _asking(scenario: Scenario, asked: AskedOrder) -> Run:
    """The run that a question of the scenario asks for."""
    path = f"{asked.path}.question"
    try:
        prop = asked_property(read_question(asked.question))
        path = f"{asked.path}.release"
        release = parse_release(asked.release) if asked.release else default_release(scenario)
        composition = compose_for(
            scenario, release, race_beside(scenario) if asked.release is None else (), ()
        )
    except UsageProblem as problem:
        raise scenario.complaint(path, str(problem)) from None
    return Run(
        scenario,
        composition,
        prop.id,
        expected="VIOLATED" if asked.answer == "possible" else "HOLDS",
        expected_steps=asked.steps,
        origin=f"{asked.path}.question",
        own=prop,
    )


def _run(scenario: Scenario, expected: Expectation, own: Mapping[str, type[Property]]) -> Run:
    group = expected.path.partition(".verdicts")[0]
    path = expected.path
    try:
        identifier = parse_property(expected.property, [*PROPERTIES, *own])
        path = f"{group}.release"
        release = parse_release(expected.release) if expected.release else default_release(scenario)
        path = f"{group}.with_fixes"
        with_fixes = [parse_fix(key, list(CHANGES)) for key in expected.with_fixes]
        beside = race_beside(scenario) if expected.release is None else ()
        path = f"{group}.without_fixes"
        without_fixes = [parse_fix(key, list(CHANGES)) for key in expected.without_fixes]
        set_gates, path = path, f"{group}.featureGates"
        gates = {known_gate(name): on for name, on in expected.feature_gates.items()}
        compose(release, (), (), gates)
        path = set_gates
        composition = compose_for(
            scenario, release, list(dict.fromkeys([*with_fixes, *beside])), without_fixes, gates
        )
    except UsageProblem as problem:
        raise scenario.complaint(path, str(problem).removeprefix("--gate: ")) from None
    return Run(
        scenario,
        composition,
        identifier,
        expected=_VERDICTS[expected.verdict],
        expected_steps=expected.steps,
        origin=expected.path,
        own=own.get(identifier),
    )
