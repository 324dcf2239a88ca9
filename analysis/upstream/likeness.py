"""Hashes of a function, and how alike two functions are by their sketches.

A sketch is the least hash of all triples of tokens, for sixteen hash functions, one byte of each (minwise hashing: Broder 1997;
Li and König, b-bit minwise hashing, 2010). The share of equal bytes estimates how many triples two functions have in common.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache

from ...model.history.trees import Hashes
from .go_functions import Function
from .normal_form import normal_form

_SLOTS = 16


def hashes_of(function: Function, renamed: Mapping[str, str] | None = None) -> Hashes:
    """What is kept of a function; `renamed` gives functions of other names the old ones."""
    form = normal_form(function, renamed)
    return Hashes(_digest(function.tokens, 8), _digest(form, 10), _sketch(form), len(form))


def likeness(one: Hashes, other: Hashes) -> float:
    """An estimate between 0 and 1 of how much two functions have in common."""
    both = zip(_decoded(one.sketch), _decoded(other.sketch), strict=True)
    return sum(a == b for a, b in both) / _SLOTS


@cache
def _decoded(sketch: str) -> bytes:
    return base64.b64decode(sketch + "==")


def _digest(tokens: Sequence[str], length: int) -> str:
    return hashlib.sha256("\n".join(tokens).encode()).hexdigest()[:length]


def _sketch(tokens: Sequence[str]) -> str:
    triples = {"\n".join(tokens[i : i + 3]) for i in range(max(1, len(tokens) - 2))}
    digests = [hashlib.shake_128(triple.encode()).digest(4 * _SLOTS) for triple in triples]
    least = [min(d[4 * slot : 4 * slot + 4] for d in digests)[-1] for slot in range(_SLOTS)]
    return base64.b64encode(bytes(least)).decode().rstrip("=")
