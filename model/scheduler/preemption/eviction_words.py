"""How an eviction within the scheduling cycle is told: what the DELETE did, or why it had no effect."""

from __future__ import annotations

from ...language import Sentence, changes, finds


def eviction(nobody: str) -> tuple[Sentence, ...]:
    """The sentences of the step; `nobody` is what follows where the API server does not know the victim."""
    return (
        Sentence(
            "The scheduler evicts {victim} for {pod}: the API server deletes it.",
            changes("api.pod.exists", after=False),
        ),
        Sentence(
            "The scheduler evicts {victim} for {pod}: the API server sets its deletion timestamp.",
            changes("api.pod.terminating", after=True),
        ),
        Sentence(
            "The scheduler's DELETE of {victim} fails: PostFilter ends in an error.", changes("faults.left")
        ),
        Sentence(
            "The scheduler deletes the object of {victim}, which has finished: no watch of its tells of it, so no event will follow.",
            changes("api.remains", after=False),
        ),
        Sentence(
            f"The scheduler sends a DELETE for {{victim}}, which is gone already: 404: {nobody}.",
            finds("api.pod.exists", "victim", False),
        ),
        Sentence(
            "The scheduler sends a DELETE for {victim}, which is being deleted already: nothing changes."
        ),
    )
