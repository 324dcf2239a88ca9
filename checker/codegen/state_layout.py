"""Where each state variable lives in a packed state: a few 64-bit words, no variable across two of them."""

from collections.abc import Iterable, Sequence

from ...base.structs import Data
from ...model.language import State, Variable

WORD_BITS = 64


class Field(Data):
    """The place of one variable: `bits` bits of word `word` from bit `shift` up hold its code less `lo`."""

    word: int
    shift: int
    bits: int
    lo: int

    @property
    def mask(self) -> int:
        """The field's bits within its word."""
        return ((1 << self.bits) - 1) << self.shift

    def pattern(self, code: int) -> int:
        """The word that holds `code` in this field and 0 elsewhere."""
        return (code - self.lo) << self.shift


class Layout:
    """The fields of a state, and the way from a state tuple to words and back.

    Deterministic. Variables keep their order where that costs no extra word, because those that
    belong together are declared together, and then one masked comparison tests several at once.
    Raises ValueError for a variable that no word can hold.
    """

    def __init__(self, variables: Sequence[Variable]) -> None:
        for variable in variables:
            if variable.bits > WORD_BITS:
                raise ValueError(
                    f"`{variable.name}` needs {variable.bits} bits; the native engine has {WORD_BITS}"
                )
        declared = _first_fit(variables)
        by_size = _first_fit(sorted(variables, key=lambda v: -v.bits))
        chosen = by_size if _word_count(by_size.values()) < _word_count(declared.values()) else declared
        self.fields: dict[Variable, Field] = {v: chosen[v] for v in variables}
        self.words = max(1, _word_count(chosen.values()))

    def pack(self, state: State) -> tuple[int, ...]:
        """The words of a state, each in 0..2^64 - 1."""
        words = [0] * self.words
        for field, code in zip(self.fields.values(), state, strict=True):
            words[field.word] |= field.pattern(code)
        return tuple(words)

    def unpack(self, words: Sequence[int]) -> State:
        """The state that these words hold."""
        return tuple(((int(words[f.word]) & f.mask) >> f.shift) + f.lo for f in self.fields.values())


def _first_fit(variables: Iterable[Variable]) -> dict[Variable, Field]:
    used: list[int] = []
    fields = {}
    for variable in variables:
        word = next((w for w, bits in enumerate(used) if bits + variable.bits <= WORD_BITS), len(used))
        if word == len(used):
            used.append(0)
        # A variable of no bits may find the word full: any shift within the word will do.
        fields[variable] = Field(word, min(used[word], WORD_BITS - 1), variable.bits, variable.lo)
        used[word] += variable.bits
    return fields


def _word_count(fields: Iterable[Field]) -> int:
    return max((f.word + 1 for f in fields), default=0)
