"""What a transition changes, remembered: most transitions look at few bits of a state, and meet the same bits again and again.

A costly transition gets a table, shared by all threads. An entry holds the bits that the transition looked at, exactly,
and the bits that it wrote; the hash of the former only says where the entry lies, and a newer entry takes the place of an
older one. So an answer is never decided by a hash, and never depends on what is remembered. In LTSmin this is the cache of
a transition group's short states (Blom, van de Pol, Weber, "LTSmin: distributed and symbolic reachability", CAV 2010).

Entries are read without locks, each guarded by a version (Boehm, "Can seqlocks get along with programming language memory
models?", MSPC 2012): 0 before the first write, even while someone writes, odd when it is whole. Whoever finds
someone else writing goes on without writing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..llvm.text import Assembly, signed

LEAST_NODES = 60
"""A transition that computes fewer expressions than that is as quick as a look into a table."""

MOST_ENTRIES = 1 << 12
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)


@dataclass(frozen=True)
class Memo:
    """The table of one transition: `read` and `written` are masks by the word of the state that they belong to."""

    number: int
    read: dict[int, int]
    written: dict[int, int]

    @property
    def name(self) -> str:
        """The table's name in the module."""
        return f"@memo{self.number}"

    @property
    def entries(self) -> int:
        """How many there are, a power of two."""
        return int(min(MOST_ENTRIES, 1 << sum(mask.bit_count() for mask in self.read.values())))

    @property
    def stride(self) -> int:
        """How many i64 an entry takes: its version, what was read, what was written; a whole cache line if that is close."""
        size = 1 + len(self.read) + len(self.written)
        return 8 if 4 < size <= 8 else size

    @property
    def bytes(self) -> int:
        """What the table takes."""
        return 8 * self.entries * self.stride

    def definition(self) -> str:
        """The table itself, empty."""
        return (
            f"{self.name} = internal global [{self.entries * self.stride} x i64] zeroinitializer, align 64\n"
        )

    def find(self, out: Assembly, words: Sequence[str]) -> tuple[str, str, dict[int, str]]:
        """Look up a state: whether its entry is there (an i1), the entry's address (ptr), and what it says is written."""
        keys = self._keys(out, words)
        entry = self._address(out, keys)
        version = out.value(f"load atomic i64, ptr {entry} acquire, align 8")
        known = [self._load(out, entry, 1 + k) for k in range(len(keys) + len(self.written))]
        out.do("fence acquire")
        again = self._load(out, entry, 0)
        whole = out.value(f"and i64 {version}, 1")
        differences = [out.value(f"xor i64 {whole}, 1"), out.value(f"xor i64 {version}, {again}")]
        differences += [out.value(f"xor i64 {a}, {b}") for a, b in zip(keys, known, strict=False)]
        total = differences[0]
        for difference in differences[1:]:
            total = out.value(f"or i64 {total}, {difference}")
        found = out.value(f"icmp eq i64 {total}, 0")
        return found, entry, dict(zip(self.written, known[len(keys) :], strict=True))

    def enter(self, out: Assembly, entry: str, words: Sequence[str], written: dict[int, str]) -> None:
        """Write an entry, unless someone else is writing it."""
        version = self._load(out, entry, 0)
        odd = out.value(f"or i64 {version}, 1")
        busy = out.value(f"add i64 {odd}, 1")
        empty = out.value(f"icmp eq i64 {version}, 0")
        whole = out.value(f"icmp eq i64 {odd}, {version}")
        free = out.value(f"or i1 {empty}, {whole}")
        take, write, done = out.new_label("take"), out.new_label("write"), out.new_label("done")
        out.do(f"br i1 {free}, label %{take}, label %{done}")
        out.begin(take)
        swapped = out.value(f"cmpxchg ptr {entry}, i64 {version}, i64 {busy} acquire monotonic, align 8")
        out.do(f"br i1 {out.value(f'extractvalue {{i64, i1}} {swapped}, 1')}, label %{write}, label %{done}")
        out.begin(write)
        out.do("fence release")
        for k, value in enumerate([*self._keys(out, words), *(written[w] for w in self.written)]):
            out.do(f"store atomic i64 {value}, ptr {self._place(out, entry, 1 + k)} monotonic, align 8")
        out.do(f"store atomic i64 {out.value(f'add i64 {busy}, 1')}, ptr {entry} release, align 8")
        out.do(f"br label %{done}")
        out.begin(done)

    def _keys(self, out: Assembly, words: Sequence[str]) -> list[str]:
        return [out.value(f"and i64 {words[w]}, {signed(mask)}") for w, mask in self.read.items()]

    def _address(self, out: Assembly, keys: list[str]) -> str:
        mixed = "0"
        for k, key in enumerate(keys):
            # Any odd numbers with many bits will do, a different one for each word.
            multiplier = _MULTIPLIERS[k % len(_MULTIPLIERS)] + 2 * (k // len(_MULTIPLIERS))
            part = out.value(f"mul i64 {key}, {signed(multiplier % 2**64)}")
            mixed = out.value(f"add i64 {mixed}, {part}")
        mixed = out.value(f"xor i64 {mixed}, {out.value(f'lshr i64 {mixed}, 32')}")
        mixed = out.value(f"mul i64 {mixed}, {signed(_MULTIPLIERS[0])}")
        # Twice, for a shift by all 64 bits is not defined.
        place = out.value(f"lshr i64 {mixed}, 32")
        place = out.value(f"lshr i64 {place}, {32 - (self.entries.bit_length() - 1)}")
        at = out.value(f"mul i64 {place}, {self.stride}")
        return out.value(f"getelementptr i64, ptr {self.name}, i64 {at}")

    def _place(self, out: Assembly, entry: str, index: int) -> str:
        return out.value(f"getelementptr i64, ptr {entry}, i64 {index}")

    def _load(self, out: Assembly, entry: str, index: int) -> str:
        return out.value(f"load atomic i64, ptr {self._place(out, entry, index)} monotonic, align 8")
