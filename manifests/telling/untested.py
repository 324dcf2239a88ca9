"""Why what was kept of a cluster cannot test a property: what the property needs, and what of that is not among the kept pods."""

from ..left_out import affinity_of, constraints_of
from ..representative import Representative, victims_of

NOMINATIONS = ("S-NOM", "S-NOMVIS")
"""They need a pod for which somebody is evicted, and another one that may take the room."""


def not_asked(kept: Representative) -> dict[str, str]:
    """The properties that are left out where nothing among the kept pods could test them, with the reasons."""
    found = {}
    if not any(b.protects(p.entity) for b in kept.inventory.budgets for p in victims_of(kept)):
        found["S-PDB"] = "no kept pod that could be evicted is protected by a disruption budget"
    if not any(t.anti for p in kept.pods for t in affinity_of(p, kept).terms):
        found["S-AFF"] = "no two kept pods keep away from each other"
    if not any(constraints_of(p, kept) for p in kept.pods):
        found["S-SPREAD"] = "no kept pod that waits has a hard topology spread constraint"
    return found


def why_untested(kept: Representative, name: str, missed: tuple[str, ...]) -> str:
    """Why a property holds for want of anything that could break it. `missed` is what a search to the end did not find."""
    if name in NOMINATIONS and (reason := _no_contest(kept)):
        return reason
    return (
        f"no run of the kept pods reaches a state in which {', or in which '.join(missed)}"
        if missed
        else "no step can happen"
    )


def _no_contest(kept: Representative) -> str:
    """Why nobody among the kept pods may take the room that preemption makes; empty if somebody may."""
    question = kept.question
    known = {p.name for p in kept.pods}
    if not victims_of(kept):
        return (
            "of the kept pods none is less important than another, so none can be evicted and no nomination made"
            f"{_elsewhere(kept)}"
        )
    if any(p.name in known for p in question.contenders):
        return ""
    if not question.victims:
        return f"{question.pod.name} fits without evicting anybody, so no nomination is made for it{_elsewhere(kept)}"
    where = question.node.name if question.node is not None else "any node"
    if not question.contenders:
        return f"no other pod may take the room that {question.pod.name} makes on {where}{_elsewhere(kept)}"
    return (
        f"no rival of {question.pod.name} is kept: --pods {question.needs_with_contender} keeps "
        f"{question.contenders[0].name}, too"
    )


def _elsewhere(kept: Representative) -> str:
    """Which other question of the cluster could test it, if one could."""
    able = [q for q in kept.asked if q.tests_nominations]
    if not able:
        return ""
    best = min(able, key=lambda q: q.needs_with_contender)
    return f"; --focus {best.pod.name} --pods {best.needs_with_contender} asks where it is"
