"""How an eviction within the scheduling cycle is told: what the DELETE did, or why it had no effect."""

from ...language import changes, finds
from ...language.declarations.narration import Said


def eviction(nobody: str) -> tuple[Said, ...]:
    """The sentences of the step; `nobody` is what follows where the API server does not know the victim."""
    return (
        changes("api.pod.exists", after=False),
        "The scheduler evicts {victim} for {pod}: the API server deletes it.",
        changes("api.pod.terminating", after=True),
        "The scheduler evicts {victim} for {pod}: the API server sets its deletion timestamp.",
        changes("faults.left"),
        "The scheduler's DELETE of {victim} fails: PostFilter ends in an error.",
        changes("api.remains", after=False),
        "The scheduler deletes the object of {victim}, which has finished: no watch of its tells of it, so no event will follow.",
        finds("api.pod.exists", "victim", False),
        f"The scheduler sends a DELETE for {{victim}}, which is gone already: 404: {nobody}.",
        "The scheduler sends a DELETE for {victim}, which is being deleted already: nothing changes.",
    )
