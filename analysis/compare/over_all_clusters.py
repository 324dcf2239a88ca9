"""`podrace verify --pods P --nodes N`: a release and the same with a change, over all clusters up to a size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from ...base.problems import Terminated
from ...checker.core.exploration import Budget
from ...model.history import CHANGES, Composition
from ...model.history.versions import exact
from ...reports.answers.proof_report import Proof
from ...reports.verify.cluster_comparison import ProofPair
from ...reports.verify.comparison import Outcome, outcome_of
from ...scenarios import parse_scenario
from ..chain import verdict_on
from ..prove.proof_request import ProofRequest, questions
from ..prove.proofs import prove_one
from ..request.method import NOBODY, Watcher
from ..request.options import parse_fix, parse_gates
from ..request.own_properties import own_properties
from ..request.plan import Run, compose, release_of
from .inquiry import candidates_of, default_release, put_in
from .listener import DEAF, Listener
from .safety_nets import NETS

VERDICTS = {"HOLDS FOR ALL": "HOLDS"}


def with_changes_over_all_clusters(
    request: ProofRequest,
    changes: Sequence[str],
    watcher: Watcher = NOBODY,
    listener: Listener[ProofPair] = DEAF,
) -> list[ProofPair]:
    """A release compared with the same and these changes, by each property that is asked for, one after the other.

    Ctrl-C and SIGTERM end it, and what was decided is kept. Raises UsageProblem.
    """
    candidates = candidates_of(changes)
    release = release_of(request.release, default_release(candidates))
    fixes = [parse_fix(name, list(CHANGES)) for name in request.with_fixes]
    gates = parse_gates(request.gates)
    put_in(release, candidates, fixes, gates)  # refuses what is in already
    keys = [c.key for c in candidates if c.patch is None]
    patches = [c.patch.source for c in candidates if c.patch is not None]
    first = replace(request, release=exact(release), with_fixes=fixes)
    second = replace(first, with_fixes=[*fixes, *keys], patches=patches)
    before = compose(release, fixes, (), gates)
    sides = list(zip(questions(first), questions(second), strict=True))
    asked = [question.property for question, _ in sides]
    alone = tuple(net for net in NETS if net not in asked)
    listener.begin(before.label, sides[0][1].composition.label, [(name,) for name in asked])
    pairs: list[ProofPair] = []
    is_cut = False
    for without, with_them in sides:
        one = prove_one(first, without, watcher, is_cut)
        other = prove_one(second, with_them, watcher, one.stopped)
        pair = msgspec.structs.replace(pair_of(one, other, before, request.own), alone=alone)
        is_cut = pair.stopped
        pairs.append(pair)
        if not is_cut:
            listener.decided(pair)
    return pairs


def pair_of(before: Proof, after: Proof, composition: Composition, own: Sequence[str]) -> ProofPair:
    """What two proofs say together. Violating clusters of the second are searched on the first: the simplest of each group."""
    outcome = outcome_of(*(VERDICTS.get(s.verdict, s.verdict) for s in (before, after)))
    if after.verdict == "HOLDS FOR ALL" and after.altered:
        outcome = "inconclusive"
    lost = tuple(witness for witness in before.witnesses_reached if witness in after.witnesses_missed)
    if after.verdict != "HOLDS FOR ALL":
        lost = ()
    stopped = before.stopped or after.stopped
    if outcome != "still violated" or stopped:
        told: Outcome = "inconclusive" if outcome == "still violated" else outcome
        return ProofPair(told, before, after, witnesses_lost=lost, stopped=stopped)
    prop = own_properties(own).get(after.property)
    tried, fresh = 0, []
    try:
        for number, group in enumerate(after.groups, 1):
            if not group.scenario:
                continue
            run = Run(
                parse_scenario(group.scenario, f"group {number}"), composition, after.property, own=prop
            )
            if verdict_on(run, Budget()).verdict == "HOLDS":
                fresh.append(group.example)
            tried += 1
    except Terminated:
        outcome, stopped = "inconclusive", True
    return ProofPair(
        "REGRESSED" if fresh else outcome, before, after, tried, tuple(fresh), lost, stopped=stopped
    )
