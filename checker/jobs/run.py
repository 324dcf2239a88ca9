"""A sweep: all chunks, wherever they are worked on, those of an earlier run taken from its journal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .chunk import Chunk, Pool, Work
from .journal import Journal


def sweep(
    work: Work, chunks: Sequence[Chunk], pool: Pool, journal: Journal | None = None
) -> Iterator[tuple[Chunk, Any]]:
    """The result of every chunk, once, in any order; those that the journal has come first."""
    known = {} if journal is None else journal.results
    done = [(chunk, known[chunk.name]) for chunk in chunks if chunk.name in known]
    left = [chunk for chunk in chunks if chunk.name not in known]
    yield from done
    for chunk, result in pool.results(work, left):
        if journal is not None:
            journal.add(chunk.name, result)
        yield chunk, result
