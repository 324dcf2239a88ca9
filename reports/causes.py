"""Which causes are worth an arrow: those across lanes that no other chain of causes and lanes implies."""

from itertools import pairwise

from .document import Finding
from .evidence import Cause


def drawn_causes(finding: Finding) -> list[Cause]:
    """The causes between different actors, less those that follow from the others and from the order on each lane."""
    actor = {step.number: step.actor for step in finding.story}
    across = [c for c in finding.causes if actor[c.number] != actor[c.after]]
    before: dict[int, set[int]] = {number: set() for number in actor}
    direct: dict[int, set[int]] = {
        number: {c.after for c in across if c.number == number} for number in actor
    }
    for name in dict.fromkeys(actor.values()):
        own = [number for number in actor if actor[number] == name]
        for one, two in pairwise(own):
            direct[two].add(one)
    for number in sorted(actor):
        for earlier in direct[number]:
            before[number] |= {earlier} | before[earlier]
    return [
        c
        for c in across
        if not any(c.after in before[other] for other in direct[c.number] if other != c.after)
    ]
