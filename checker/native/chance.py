"""Which of its successors a random walk goes to, in native code.

The choice depends on nothing but the seed, the number of the walk and the number of the step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .jit import inline
from .kernels import Integers
from .table import THIRTY_TWO, Unsigned

GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_LOW32 = np.uint64(0xFFFFFFFF)


@inline
def mix(z: Unsigned) -> Unsigned:
    """The output function of SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014)."""
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))


@inline
def random_bits(seed: Unsigned, walk: int, step: int) -> Unsigned:
    """64 random bits for this step of this walk: a walk has a stream of its own, a step a place in it."""
    stream = mix(mix(seed) + np.uint64(walk + 1) * GAMMA)
    return mix(stream + np.uint64(step + 1) * GAMMA)


@inline
def below(bits: Unsigned, count: int) -> Any:
    """A number from 0 to `count` - 1 from 32 random bits; the bias is below `count` / 2^32."""
    return np.int64((bits * np.uint64(count)) >> THIRTY_TWO)


@inline
def pick(bits: Unsigned, which: NDArray[np.int32], first: int, last: int, names: Integers) -> int:
    """One of the successors `first` .. `last` - 1 of a state.

    Without names, all alike. With the name of each transition's step: first one of the names, all alike, and then one of
    its successors.
    """
    if len(names) == 0:
        chosen: int = first + below(bits >> THIRTY_TWO, last - first)
        return chosen
    different = 0
    for k in range(first, last):
        different += _is_first(which, first, k, names)
    wanted = below(bits >> THIRTY_TWO, different)
    name = np.int64(-1)
    for k in range(first, last):
        if _is_first(which, first, k, names):
            if wanted == 0:
                name = names[which[k]]
            wanted -= 1
    instances = 0
    for k in range(first, last):
        instances += names[which[k]] == name
    wanted = below(bits & _LOW32, instances)
    for k in range(first, last):
        if names[which[k]] == name:
            if wanted == 0:
                return k
            wanted -= 1
    return first


@inline
def _is_first(which: NDArray[np.int32], first: int, k: int, names: Integers) -> bool:
    """Whether no successor before this one has the name of its step."""
    # The instances of a step mostly stand together, so the last is most likely to be the same.
    for j in range(k - 1, first - 1, -1):  # noqa: SIM110 (kernels have no all)
        if names[which[j]] == names[which[k]]:
            return False
    return True
