"""Records in the order in which they begin, whatever the order of the lines: sorted in pieces, which wait in temporary files where there are many."""

import heapq
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO

import msgspec

from .records import Write

AT_ONCE = 50_000
"""So many records are kept in memory."""

MOST_PIECES = 64
"""So many files are open; then they become one."""

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Write)
_LENGTH = 4


class Sorting:
    """Takes records in any order, gives them in order, each once: a line that was given twice says no more than once."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self.at_once = at_once
        self.twice = 0
        self._kept: list[Write] = []
        self._pieces: list[IO[bytes]] = []

    def add(self, write: Write) -> None:
        """Take a record."""
        self._kept.append(write)
        if len(self._kept) >= self.at_once:
            self._spill()

    def __iter__(self) -> Iterator[Write]:
        """All of them, once."""
        self._kept.sort(key=_place)
        last, met = -1, set[tuple[str, ...]]()
        for write in heapq.merge(*map(_stored, self._pieces), self._kept, key=_place):
            if write.begin != last:
                last, met = write.begin, set()
            # Clients can choose the ID: only a line that says the same was given twice.
            name = write.identity, write.verb, write.resource, write.sub, write.key, str(write.end)
            if write.identity and name in met:
                self.twice += 1
                continue
            met.add(name)
            yield write
        for piece in self._pieces:
            piece.close()

    def _spill(self) -> None:
        self._kept.sort(key=_place)
        self._pieces.append(_piece(self._kept))
        self._kept = []
        if len(self._pieces) >= MOST_PIECES:
            merged = _piece(heapq.merge(*map(_stored, self._pieces), key=_place))
            for piece in self._pieces:
                piece.close()
            self._pieces = [merged]


def _place(write: Write) -> tuple[int, int, str]:
    return write.begin, write.end, write.identity


def _piece(writes: Iterable[Write]) -> IO[bytes]:
    piece: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as what is in it is needed
    for write in writes:
        data = _ENCODER.encode(write)
        piece.write(len(data).to_bytes(_LENGTH) + data)
    return piece


def _stored(piece: IO[bytes]) -> Iterator[Write]:
    piece.seek(0)
    while head := piece.read(_LENGTH):
        yield _DECODER.decode(piece.read(int.from_bytes(head)))
