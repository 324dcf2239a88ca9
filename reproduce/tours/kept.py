"""What a tour keeps: which transitions a binary of the real scheduler has taken, so that a later tour does not take them again.

It is found by a hash of all that decides what a tour says: the cluster's objects, the system and its graph, the binary, and podrace's own files that make cases and compare. Scenarios with one cluster share it. What was refused or
differs is not kept, and is tried again. With plugins of the user's nothing is kept, as their configuration is no part of the binary.
"""

import base64
import hashlib
from dataclasses import field, replace
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...base.structs import Data
from ...checker.core.kept import KeptTexts
from ...checker.core.own_files import digest, is_in_one_place, look
from ...checker.explicit.state_graph import StateGraph
from ...checker.trace.fingerprint import fingerprint
from ...checker.verdict_cache import libraries
from ..case import format_cases
from ..lockstep.lockstep import case_for
from ..random_runs.random_runs import Model, RandomRun
from ..running import Built
from ..timing.timing import NO_WAITS

Taken = NDArray[np.bool_]
"""For each edge of a graph, whether it was taken."""

_USE, _FOLDER = "tour", "reproduce"
_ROOT = Path(__file__).parents[2]


class KeptTour(Data):
    """What is kept of the tours of one model's graph by one binary; nothing without a `folder`."""

    folder: Path | None
    built: Built
    model: Model
    graph: StateGraph
    key: str = field(init=False)

    def __post_init__(self) -> None:
        keeps = self.folder is not None and not self.built.own and is_in_one_place((_FOLDER,))
        object.__setattr__(self, "key", _key(self.built, self.model, self.graph) if keeps else "")

    def get(self) -> Taken:
        """Which edges were taken by tours before."""
        text = self._kept.get(self.key) if self.key else None
        if text is None:
            return np.zeros(self.graph.edges, bool)
        bits = np.frombuffer(base64.b64decode(text), np.uint8)
        return np.unpackbits(bits, count=self.graph.edges).astype(bool)

    def put(self, taken: Taken) -> None:
        """Keep which edges were taken by now."""
        if self.key:
            self._kept.put(self.key, base64.b64encode(np.packbits(taken).tobytes()).decode())

    @property
    def _kept(self) -> KeptTexts:
        assert self.folder is not None
        return KeptTexts(self.folder, _USE)


def _key(built: Built, model: Model, graph: StateGraph) -> str:
    drawn = hashlib.sha256()
    for part in (graph.codes, graph.starts, graph.targets, graph.labels):
        drawn.update(np.ascontiguousarray(part).data)
    known = {
        "cluster": format_cases([case_for(RandomRun(model, (), NO_WAITS), "")]),
        "system": fingerprint(replace(graph.system, name="")),
        "graph": [graph.states, graph.edges, drawn.hexdigest()],
        "binary": built.folder.name,
        "source": source(),
        "libraries": libraries(),
    }
    return hashlib.sha256(msgspec.json.encode(known, order="deterministic")).hexdigest()


@cache
def source() -> str:
    """SHA-256 over the Python files by which cases are made, and outcomes are compared."""
    root = str(_ROOT)
    files = look((f"{root}/{_FOLDER}",))
    named = [(path.removeprefix(root), seen) for path, seen in files.items() if path.endswith(".py")]
    told = "".join(f"{name} {digest(root + name, seen)}\n" for name, seen in named)
    return hashlib.sha256(told.encode()).hexdigest()
