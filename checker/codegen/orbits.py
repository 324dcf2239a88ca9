"""Representatives of orbits natively: `canonical(states, count)` replaces each state by the least of its orbit.

Least means least words, compared as unsigned numbers from the first on.
"""

from __future__ import annotations

from ...model.language import TransitionSystem
from ..parametric.exchange import Permutation
from ..reduction.symmetry import Symmetry
from .llvm_text import Assembly, function, loop, pointers, signed, store, words
from .state_layout import Field, Layout


def canonical(system: TransitionSystem, layout: Layout, symmetry: Symmetry) -> str:
    """The text of the function."""
    out = Assembly()
    pointers(out, "states")
    with loop(out):
        own = words(out, layout.words)
        least = own
        for permutation in symmetry.permutations:
            image = _image(out, system, layout, permutation, own)
            smaller = _smaller(out, image, least)
            least = [
                out.value(f"select i1 {smaller}, i64 {a}, i64 {b}") for a, b in zip(image, least, strict=True)
            ]
        start = out.value(f"mul i64 %i, {layout.words}")
        for w, word in enumerate(least):
            store(out, "states", out.value(f"add i64 {start}, {w}"), word)
    return function("canonical", ("states", "count"), out, result="%count", linkage="internal")


def _image(
    out: Assembly, system: TransitionSystem, layout: Layout, permutation: Permutation, own: list[str]
) -> list[str]:
    """The words of a state's image. Fields that move alike, from one word to another, move together."""
    image: list[list[str]] = [[] for _ in own]
    together: dict[tuple[int, int, int], int] = {}
    for variable, move in zip(system.variables, permutation.moves, strict=True):
        source, target = layout.fields[system.variables[move.source]], layout.fields[variable]
        if move.codes is not None:
            image[target.word].append(_coded(out, own[source.word], source, target, move.codes))
        elif target.bits:
            way = source.word, target.word, target.shift - source.shift
            together[way] = together.get(way, 0) | source.mask
    for (source_word, target_word, by), mask in together.items():
        part = out.value(f"and i64 {own[source_word]}, {signed(mask)}")
        if by:
            part = out.value(f"{'shl' if by > 0 else 'lshr'} i64 {part}, {abs(by)}")
        image[target_word].append(part)
    return [_union(out, parts) for parts in image]


def _coded(out: Assembly, word: str, source: Field, target: Field, codes: dict[int, int]) -> str:
    """A field whose codes change on the way, in its place."""
    held = out.value(f"and i64 {word}, {signed(source.mask)}")
    result = out.value(f"lshr i64 {held}, {source.shift}")
    result = out.value(f"add i64 {result}, {source.lo - target.lo}")
    for code, image in codes.items():
        if code != image:
            here = out.value(f"icmp eq i64 {held}, {signed(source.pattern(code))}")
            result = out.value(f"select i1 {here}, i64 {image - target.lo}, i64 {result}")
    return out.value(f"shl i64 {result}, {target.shift}")


def _union(out: Assembly, parts: list[str]) -> str:
    result = parts[0] if parts else "0"
    for part in parts[1:]:
        result = out.value(f"or i64 {result}, {part}")
    return result


def _smaller(out: Assembly, a: list[str], b: list[str]) -> str:
    """An i1: whether the words a come before the words b."""
    smaller = "false"
    for x, y in reversed(list(zip(a, b, strict=True))):
        less, same = out.value(f"icmp ult i64 {x}, {y}"), out.value(f"icmp eq i64 {x}, {y}")
        smaller = out.value(f"select i1 {same}, i1 {smaller}, i1 {less}")
    return smaller
