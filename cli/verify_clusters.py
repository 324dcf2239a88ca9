"""`podrace verify --pods P --nodes N`: a release and the same with a change, over all clusters up to a size."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..analysis.execute import execute
from ..analysis.options import parse_fix, parse_release
from ..analysis.own.own_properties import own_properties
from ..analysis.plan import Run, compose
from ..checker.core.exploration import Budget
from ..model.history import CHANGES, RELEASES, Composition
from ..reports.survey import Survey
from ..reports.verify.cluster_comparison import FORMS, Surveyed, print_surveyed
from ..reports.verify.comparison import outcome_of
from ..scenarios import parse_scenario
from .console import result_console, tolerant_of_closed_pipes
from .prove import Proof, survey_all
from .verify import BAD, GOOD, INCONCLUSIVE, candidates_of, default_release, put_in

VERDICTS = {"HOLDS FOR ALL": "HOLDS"}


@dataclass(frozen=True, slots=True)
class Sides:
    """What the two schedulers are made of: `proof` asks about the first, `changes` are put in for the second."""

    proof: Proof
    changes: Sequence[str]
    strict: bool = False
    form: str = "text"


def verify_clusters(sides: Sides) -> int:
    """Survey both, and print what came out; gives the exit code. Raises UsageProblem."""
    candidates = candidates_of(sides.changes)
    proof = sides.proof
    release = proof.release and parse_release(proof.release, RELEASES)
    release = release or default_release(candidates)
    fixes = [parse_fix(name, list(CHANGES)) for name in proof.with_fixes]
    put_in(release, candidates, fixes)  # refuses what is in already
    keys = [c.key for c in candidates if c.patch is None]
    patches = [c.patch.source for c in candidates if c.patch is not None]
    first = replace(proof, release=release, with_fixes=fixes)
    second = replace(first, with_fixes=[*fixes, *keys], patches=patches)
    before = compose(release, fixes, ())
    found = [
        surveyed(one, other, before, proof.own)
        for one, other in zip(survey_all(first), survey_all(second), strict=True)
    ]
    with tolerant_of_closed_pipes():
        if sides.form == "text":
            print_surveyed(result_console(proof.no_color), found)
        else:
            sys.stdout.write(FORMS[sides.form](found))
    return code_of(found, sides.strict)


def surveyed(before: Survey, after: Survey, composition: Composition, own: Sequence[str]) -> Surveyed:
    """What two surveys say together. Violating clusters of the second are searched on the first: the simplest of each group."""
    outcome = outcome_of(*(VERDICTS.get(s.verdict, s.verdict) for s in (before, after)))
    lost = tuple(witness for witness in before.witnesses_reached if witness in after.witnesses_missed)
    if after.verdict != "HOLDS FOR ALL":
        lost = ()
    if outcome != "still violated":
        return Surveyed(outcome, before, after, witnesses_lost=lost)
    prop = own_properties(own).get(after.property)
    tried, fresh = 0, []
    for number, group in enumerate(after.groups, 1):
        if not group.scenario:
            continue
        tried += 1
        run = Run(parse_scenario(group.scenario, f"group {number}"), composition, after.property, own=prop)
        if execute(run, Budget()).verdict == "HOLDS":
            fresh.append(group.example)
    return Surveyed("REGRESSED" if fresh else outcome, before, after, tried, tuple(fresh), lost)


def code_of(found: Sequence[Surveyed], strict: bool) -> int:
    """As `podrace verify` has it."""
    outcomes = [s.outcome for s in found]
    if (
        "REGRESSED" in outcomes
        or any(s.witnesses_lost for s in found)
        or (strict and "still violated" in outcomes)
    ):
        return BAD
    return INCONCLUSIVE if "inconclusive" in outcomes else GOOD
