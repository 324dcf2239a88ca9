"""`podrace prove`: every cluster up to a size, whatever the sizes and priorities."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..analysis.options import UsageProblem, parse_fix, parse_property, parse_release
from ..analysis.own.own_properties import own_properties
from ..analysis.proving.clusters import Question
from ..checker.jobs import JournalProblem, LostWorker
from ..checker.parametric.grounding import TooManyCases
from ..checker.parametric.regions import Undecided
from ..model.history import CHANGES, RELEASES, resolve
from ..properties import PROPERTIES
from ..reports.survey import Survey, print_survey, to_json
from ..scenarios.template import ClusterTemplate
from .console import message_console, result_console, tolerant_of_closed_pipes
from .progress import ProgressDisplay
from .surveying import SHOWN, Surveying


@dataclass(frozen=True, slots=True)
class Proof:
    """What the command line asks for. `own` is as `--properties` gives it, `patches` as `--patch`."""

    pods: int
    nodes: int
    release: str | None = None
    with_fixes: Sequence[str] = ()
    without_fixes: Sequence[str] = ()
    properties: Sequence[str] = ()
    own: Sequence[str] = ()
    patches: Sequence[str] = ()
    example: ClusterTemplate = field(default_factory=lambda: ClusterTemplate((), 0))
    max_states: int | None = None
    jobs: int = 1
    ray: str | None = None
    journal: Path | None = None
    examples: Path | None = None
    form: str = "text"
    no_color: bool = False


def prove(proof: Proof) -> int:
    """Carry out a whole `podrace prove`; gives the exit code. Raises UsageProblem."""
    surveys = survey_all(proof)
    if proof.examples is not None:
        _write_examples(surveys, proof.examples)
    with tolerant_of_closed_pipes():
        _report(surveys, proof)
    verdicts = {survey.verdict for survey in surveys}
    return 1 if "VIOLATED" in verdicts else 3 if "INCONCLUSIVE" in verdicts else 0


def survey_all(proof: Proof) -> list[Survey]:
    """The survey of each property. Raises UsageProblem."""
    questions = list(_questions(proof))
    if proof.journal is not None and len(questions) > 1:
        raise UsageProblem(
            f"--journal is for one property, and this asks for {len(questions)}: choose with --property"
        )
    surveys = []
    try:
        with ProgressDisplay(message_console(proof.no_color)) as display:
            for question in questions:
                surveys.append(Surveying(proof, question, display).run())
    except (JournalProblem, TooManyCases, Undecided, LostWorker) as error:
        raise UsageProblem(f"cannot go on: {error}") from None
    return surveys


def _report(surveys: Sequence[Survey], proof: Proof) -> None:

    if proof.form == "json":
        sys.stdout.write(to_json(surveys))
        return
    console = result_console(proof.no_color)
    for number, survey in enumerate(surveys):
        if number:
            console.print()
        print_survey(console, survey, SHOWN)


def _write_examples(surveys: Sequence[Survey], directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for survey in surveys:
            for number, group in enumerate(survey.groups, 1):
                path = directory / f"{survey.property.lower()}-group-{number}.yaml"
                if group.scenario:
                    path.write_text(group.scenario, encoding="utf-8")
    except OSError as error:
        raise UsageProblem(f"--examples: cannot write to `{directory}`: {error.strerror or error}") from None


def _questions(proof: Proof) -> Iterator[Question]:
    own = own_properties(proof.own)
    release = parse_release(proof.release, RELEASES) if proof.release is not None else RELEASES[-1]
    fixes = [
        tuple(parse_fix(name, list(CHANGES)) for name in names)
        for names in (proof.with_fixes, proof.without_fixes)
    ]
    try:
        resolve(release, *fixes)
    except ValueError as error:
        raise UsageProblem(f"{error}: leave out --with-fix or --without-fix") from None
    names = [parse_property(name, [*PROPERTIES, *own]) for name in proof.properties]
    for name in dict.fromkeys(names or [*own] or ["S-NOM", "S-NOMVIS", "S-CAP"]):
        asked = tuple(proof.own) if name in own else ()
        yield Question(proof.example, release, fixes[0], fixes[1], name, asked, tuple(proof.patches))
