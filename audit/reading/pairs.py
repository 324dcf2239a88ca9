"""Whether each request has both of its lines, in memory that does not grow with the log.

Lines come in any order, and many policies log only the second one. So no set of IDs is kept: of the IDs of all first lines and of all second ones a sum of hashes is, and the
sums are equal if the IDs are. Only of answers that began, and have not ended yet, the IDs are kept: kube-apiserver tells of them for watches alone. The hashes are Python's of a process, which nobody who writes a log can know.
"""

from dataclasses import dataclass

_BITS = (1 << 128) - 1


@dataclass(slots=True)
class _Sums:
    began: int = 0
    ended: int = 0
    difference: int = 0


class Pairs:
    """First and last lines of requests, by kinds of requests."""

    def __init__(self) -> None:
        self._of: dict[str, _Sums] = {}
        self._answered: set[str] = set()

    def began(self, kind: str, identity: str) -> None:
        """The first line of a request."""
        sums = self._of.setdefault(kind, _Sums())
        sums.began += 1
        sums.difference = (sums.difference + _hash(identity)) & _BITS

    def answered(self, identity: str) -> None:
        """A line that tells of the beginning of an answer; kube-apiserver writes none of these requests, but it may be in a log."""
        self._answered.add(identity)

    def ended(self, kind: str, identity: str) -> None:
        """The last one."""
        self._answered.discard(identity)
        sums = self._of.setdefault(kind, _Sums())
        sums.ended += 1
        sums.difference = (sums.difference - _hash(identity)) & _BITS

    def unfinished(self) -> int:
        """How many requests have one of their lines only, at least; of kinds of which no first line was logged, none is missed.

        One whose answer began is missed if its end was not read after that.
        """
        return len(self._answered) + sum(
            max(abs(sums.began - sums.ended), 1 if sums.difference else 0)
            for sums in self._of.values()
            if sums.began
        )


def _hash(identity: str) -> int:
    return (hash(identity) << 64) ^ hash((identity, 1))
