"""`podrace verify --pods P --nodes N`: a release and the same with a change, over all clusters up to a size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from ...checker.core.exploration import Budget
from ...model.history import CHANGES, Composition
from ...model.history.versions import exact
from ...reports.answers.proof_report import Proof
from ...reports.verify.cluster_comparison import ProofPair
from ...reports.verify.comparison import outcome_of
from ...scenarios import parse_scenario
from ..chain import verdict_on
from ..prove.proof_request import ProofRequest
from ..prove.proofs import prove_all
from ..request.method import NOBODY, Watcher
from ..request.options import parse_fix, parse_gates
from ..request.own_properties import own_properties
from ..request.plan import Run, compose, release_of
from .inquiry import candidates_of, default_release, put_in
from .safety_nets import NETS

VERDICTS = {"HOLDS FOR ALL": "HOLDS"}


def with_changes_over_all_clusters(
    request: ProofRequest, changes: Sequence[str], watcher: Watcher = NOBODY
) -> list[ProofPair]:
    """A release compared with the same and these changes, by each property that is asked for. Raises UsageProblem."""
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
    proofs = zip(prove_all(first, watcher), prove_all(second, watcher), strict=True)
    pairs = [pair_of(one, other, before, request.own) for one, other in proofs]
    asked = {pair.before.property for pair in pairs}
    alone = tuple(net for net in NETS if net not in asked)
    return [msgspec.structs.replace(pair, alone=alone) for pair in pairs]


def pair_of(before: Proof, after: Proof, composition: Composition, own: Sequence[str]) -> ProofPair:
    """What two proofs say together. Violating clusters of the second are searched on the first: the simplest of each group."""
    outcome = outcome_of(*(VERDICTS.get(s.verdict, s.verdict) for s in (before, after)))
    if after.verdict == "HOLDS FOR ALL" and after.altered:
        outcome = "inconclusive"
    lost = tuple(witness for witness in before.witnesses_reached if witness in after.witnesses_missed)
    if after.verdict != "HOLDS FOR ALL":
        lost = ()
    if outcome != "still violated":
        return ProofPair(outcome, before, after, witnesses_lost=lost)
    prop = own_properties(own).get(after.property)
    tried, fresh = 0, []
    for number, group in enumerate(after.groups, 1):
        if not group.scenario:
            continue
        tried += 1
        run = Run(parse_scenario(group.scenario, f"group {number}"), composition, after.property, own=prop)
        if verdict_on(run, Budget()).verdict == "HOLDS":
            fresh.append(group.example)
    return ProofPair("REGRESSED" if fresh else outcome, before, after, tried, tuple(fresh), lost)
