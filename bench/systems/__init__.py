"""Systems that are no schedulers, for the benchmarks: each a file in the modelling language, and some by hand in Promela as well.

What is written in Promela has as many states and transitions, and is what somebody would write who uses SPIN: a process for each actor.
"""

from collections.abc import Callable
from pathlib import Path

from podrace.model.language import TransitionSystem

from .cube import cube
from .raft import raft
from .stack import stack
from .token_ring import token_ring

SYSTEMS: dict[str, Callable[[], TransitionSystem]] = {
    "token-ring": token_ring,
    "cube": cube,
    "raft": raft,
    "stack": stack,
}


def by_hand(name: str) -> Path | None:
    """Where the system is written in Promela, if it is."""
    path = Path(__file__).with_name(f"{name.replace('-', '_')}.pml")
    return path if path.exists() else None
