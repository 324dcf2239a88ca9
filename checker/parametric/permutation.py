"""Maps of states that give each variable the value of one variable, perhaps another code of it."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.language import State


@dataclass(frozen=True, slots=True)
class Move:
    """Where a variable's value comes from, and what becomes of each code on the way."""

    source: int
    codes: dict[int, int] | None = None

    def __call__(self, state: State) -> int:
        code = state[self.source]
        return code if self.codes is None else self.codes[code]


@dataclass(frozen=True, slots=True)
class Permutation:
    """A map of states: variable i of the image is `moves[i]` of the state."""

    moves: tuple[Move, ...]

    def __call__(self, state: State) -> State:
        """The image of a state."""
        return tuple(move(state) for move in self.moves)

    @property
    def is_identity(self) -> bool:
        """Whether it changes no state."""
        return all(m == Move(i) for i, m in enumerate(self.moves))

    def after(self, first: Permutation) -> Permutation:
        """This permutation applied to the image under `first`."""
        return Permutation(tuple(_composed(first.moves[m.source], m) for m in self.moves))


def _composed(first: Move, then: Move) -> Move:
    if first.codes is None:
        return Move(first.source, then.codes)
    if then.codes is None:
        return first
    return Move(first.source, {code: then.codes[new] for code, new in first.codes.items()})
