"""Whether a log is of one cluster: what a collector of several writes into one log cannot be told apart, but for the uids of what all of them have."""

from collections.abc import Iterable, Iterator

import msgspec

from ...base.problems import Problem
from ...base.text import one_line
from ..reading.records import Write, time_text

MARGIN = 5_000_000
"""So many microseconds lie between two writes at least where clocks are to have no say in which was first."""

KINDS = {"nodes": "node", "leases": "lease"}
"""What clusters have in common: nodes of one name, and the scheduler's lease."""


class _Seen(msgspec.Struct):
    """When a uid was seen first, and when another one was seen clearly after that."""

    first: int
    replaced: int | None = None
    by: str = ""


class OneCluster:
    """The uids of each object. `margin`: by how much clocks may differ."""

    def __init__(self, margin: int) -> None:
        self._margin = max(margin, MARGIN)
        self._uids: dict[tuple[str, str], dict[str, _Seen]] = {}

    def through(self, writes: Iterable[Write]) -> Iterator[Write]:
        """The same. Raises Problem for a uid that comes back after another one: in one cluster, what is made again has a new one."""
        for write in writes:
            if write.resource in KINDS and write.uid and write.accepted:
                self._look(write)
            yield write

    def _look(self, write: Write) -> None:
        uids = self._uids.setdefault((write.resource, write.key), {})
        seen = uids.setdefault(write.uid, _Seen(write.end))
        if seen.replaced is not None and write.begin > seen.replaced + self._margin:
            raise Problem(
                f"the log is of several clusters: the {KINDS[write.resource]} {one_line(write.key)} has the uid {one_line(write.uid)} at {time_text(seen.first)}, "
                f"{one_line(seen.by)} at {time_text(seen.replaced)}, and the first one again at {time_text(write.begin)}: audit the log of each cluster by itself"
            )
        for uid, other in uids.items():
            if uid != write.uid and other.replaced is None and write.begin > other.first + self._margin:
                other.replaced, other.by = write.end, write.uid
