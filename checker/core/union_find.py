"""Union-find: which things belong together, as far as somebody has said so (Tarjan, 1975, by path halving)."""

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class UnionFind(Generic[T]):
    """Classes of things, at first each by itself."""

    def __init__(self) -> None:
        self._above: dict[T, T] = {}  # a leader is not in here

    def find(self, thing: T) -> T:
        """The leader of the thing's class: the same for all of its members."""
        above = self._above
        while thing in above:
            if above[thing] in above:
                above[thing] = above[above[thing]]
            thing = above[thing]
        return thing

    def join(self, things: Iterable[T]) -> None:
        """Make one class of the classes of these; the leader of the first leads it."""
        # A dict tells things apart by their hashes too: expressions compare to an expression.
        leaders = list(dict.fromkeys(map(self.find, things)))
        self._above.update(dict.fromkeys(leaders[1:], leaders[0]) if leaders else {})

    def connected(self, things: Iterable[T]) -> bool:
        """Whether all of these are in one class."""
        return len({self.find(thing) for thing in things}) <= 1
