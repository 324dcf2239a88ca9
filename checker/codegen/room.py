"""Where `expand` keeps what it knows of a chunk of states between its passes, and the loops that it has for every system.

All of it lies in memory of the caller's, a thread's own.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ..llvm.text import Assembly, function, loop, pointers
from .lanes import LANES, QUARTER, QUARTERS, SHORT

CHUNK = 256
"""States of a chunk: so many that most transitions fill their lanes, so few that all this stays near the processor."""

_MASKS = CHUNK // 64
"""How many words hold a bit for each state of a chunk."""
ALIGNMENT = 64
"""Where the arrays begin: at the first such place of the memory that the caller gives."""


class Room:
    """The places of the arrays, in bytes, for states of so many words and so many transitions."""

    def __init__(self, words: int, transitions: int) -> None:
        self.words, self.transitions = words, transitions
        self.quarters = 0
        self.gathered = self.quarters + 2 * CHUNK * QUARTERS * words
        self.counts = self.gathered + 2 * CHUNK * QUARTERS * words
        self.next = self.counts + 4 * CHUNK
        self.list = self.next + 8 * CHUNK
        self.masks = self.list + 2 * CHUNK
        self.taken = self.masks + 8 * _MASKS * -(-max(1, transitions) // 64) * 64
        self.bytes = self.taken + 8 * transitions + ALIGNMENT

    def quarter(self, number: int) -> int:
        """Where a quarter of all states lies."""
        return self.quarters + 2 * CHUNK * number

    def dense(self, number: int) -> int:
        """Where it lies once it was gathered."""
        return self.gathered + 2 * CHUNK * number

    def address(self, out: Assembly, offset: int, index: str, size: int) -> str:
        """Where element `index`, of `size` bytes, of the array at `offset` lies."""
        start = out.value(f"getelementptr i8, ptr %room.p, i64 {offset}")
        return out.value(f"getelementptr i{8 * size}, ptr {start}, i64 {index}")

    def load(self, out: Assembly, offset: int, index: str) -> str:
        """A vector of quarters."""
        return out.value(f"load {SHORT}, ptr {self.address(out, offset, index, 2)}, align 32")

    def store(self, out: Assembly, offset: int, index: str, value: str) -> None:
        """Keep a vector of quarters."""
        out.do(f"store {SHORT} {value}, ptr {self.address(out, offset, index, 2)}, align 32")

    def store_mask(self, out: Assembly, transition: int, bits: str) -> None:
        """Keep which of the LANES states from %i on have a transition."""
        group = out.value(f"lshr i64 %i, {LANES.bit_length() - 1}")
        at = self.address(out, self.masks + 8 * _MASKS * transition, group, LANES // 8)
        out.do(f"store i{LANES} {bits}, ptr {at}")

    # The loops over the listed states of a transition; %room, %states, %out, %which and %count are known.

    @contextmanager
    def each_listed(self, out: Assembly, name: str = "write") -> Iterator[None]:
        """The code inside runs for each state in the list: %k is its place there, %lane its place in the chunk."""
        if out.block == "entry":
            pointers(out, "room", "states", "out", "which")
        self._k = f"%{name}.k"
        with loop(out, self._k):
            short = out.value(f"load i16, ptr {self.address(out, self.list, self._k, 2)}")
            self._lane = out.value(f"zext i16 {short} to i64")
            yield

    def copy_quarter(self, out: Assembly, quarter: int) -> None:
        """Gather a quarter of the listed state."""
        value = out.value(f"load i16, ptr {self.address(out, self.quarter(quarter), self._lane, 2)}")
        out.do(f"store i16 {value}, ptr {self.address(out, self.dense(quarter), self._k, 2)}")

    def parent_words(self, out: Assembly) -> list[str]:
        """The words of the listed state."""
        start = out.value(f"mul i64 {self._lane}, {self.words}")
        state = out.value(f"getelementptr i64, ptr %states.p, i64 {start}")
        found = []
        for word in range(self.words):
            at = out.value(f"getelementptr i64, ptr {state}, i64 {word}")
            found.append(out.value(f"load i64, ptr {at}"))
        return found

    def take_place(self, out: Assembly, transition: int) -> str:
        """Where the listed state's next successor is written, by this transition."""
        at = self.address(out, self.next, self._lane, 8)
        place = out.value(f"load i64, ptr {at}")
        out.do(f"store i64 {out.value(f'add i64 {place}, 1')}, ptr {at}")
        which = out.value(f"getelementptr i32, ptr %which.p, i64 {place}")
        out.do(f"store i32 {transition}, ptr {which}")
        start = out.value(f"mul i64 {place}, {self.words}")
        return out.value(f"getelementptr i64, ptr %out.p, i64 {start}")

    def store_word(self, out: Assembly, place: str, word: int, value: str) -> None:
        """Write a word of a successor."""
        out.do(f"store i64 {value}, ptr {out.value(f'getelementptr i64, ptr {place}, i64 {word}')}")

    def store_quarter(self, out: Assembly, place: str, quarter: int) -> None:
        """Write a quarter of a successor, of those computed for the list."""
        value = out.value(f"load i16, ptr {self.address(out, self.dense(quarter), self._k, 2)}")
        out.do(f"store i16 {value}, ptr {out.value(f'getelementptr i16, ptr {place}, i64 {quarter}')}")

    def movement(self, transition: int, out: Assembly) -> str:
        """The function of a transition."""
        parameters = ("states", "out", "which", "room", "count")
        return function(f"move{transition}", parameters, out, result="0", linkage="internal")

    # The functions that are the same for all systems

    def functions(self) -> list[str]:
        """split, places and listed; and what they need."""
        return [
            self._split(),
            self._places(),
            self._listed(),
            "declare i64 @llvm.cttz.i64(i64, i1)\n",
            "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n",
        ]

    def _split(self) -> str:
        """split(states, room, n): the quarters of n states, zeros in what is left of the last vector, and no counts."""
        out = Assembly()
        pointers(out, "states", "room")
        counts = self.address(out, self.counts, "0", 1)
        out.do(f"call void @llvm.memset.p0.i64(ptr {counts}, i8 0, i64 {4 * CHUNK}, i1 false)")
        out.do(f"%up = add i64 %n, {LANES - 1}")
        out.do(f"%padded = and i64 %up, {-LANES}")
        out.do(f"%whole = and i64 %n, {-QUARTERS}")
        quarters = range(QUARTERS * self.words)
        with loop(out, "%four", below="%whole", step=QUARTERS):
            self._split_four(out)
        with loop(out, below="%n", start="%whole"):
            start = out.value(f"mul i64 %i, {QUARTERS * self.words}")
            state = out.value(f"getelementptr i16, ptr %states.p, i64 {start}")
            for quarter in quarters:
                # Quarter k of a word are the two bytes from byte 2 k on: the processors that this is for begin with the low one.
                value = out.value(
                    f"load i16, ptr {out.value(f'getelementptr i16, ptr {state}, i64 {quarter}')}"
                )
                out.do(f"store i16 {value}, ptr {self.address(out, self.quarter(quarter), '%i', 2)}")
        with loop(out, "%j", below="%padded", start="%n"):
            for quarter in quarters:
                out.do(f"store i16 0, ptr {self.address(out, self.quarter(quarter), '%j', 2)}")
        return function("split", ("states", "room", "n"), out, result="0", linkage="internal")

    def _split_four(self, out: Assembly) -> None:
        """Split QUARTERS states from %four on: of each word, a square of quarters is turned over."""
        start = out.value(f"mul i64 %four, {8 * self.words}")
        state = out.value(f"getelementptr i8, ptr %states.p, i64 {start}")
        for word in range(self.words):
            together = "poison"
            for other in range(QUARTERS):
                at = out.value(f"getelementptr i64, ptr {state}, i64 {other * self.words + word}")
                one = out.value(f"load i64, ptr {at}")
                together = out.value(f"insertelement <{QUARTERS} x i64> {together}, i64 {one}, i64 {other}")
            square = out.value(f"bitcast <{QUARTERS} x i64> {together} to {SHORT}")
            for k in range(QUARTERS):
                chosen = ", ".join(f"i32 {QUARTERS * other + k}" for other in range(QUARTERS))
                row = out.value(
                    f"shufflevector {SHORT} {square}, {SHORT} poison, <{QUARTERS} x i32> <{chosen}>"
                )
                at = self.address(out, self.quarter(QUARTERS * word + k), "%four", 2)
                out.do(f"store <{QUARTERS} x i{QUARTER}> {row}, ptr {at}, align 8")

    def _places(self) -> str:
        """places(room, n, filled, ends): where the successors of each state begin, after `filled` others; where they end."""
        out = Assembly()
        pointers(out, "room", "ends")
        out.do("br label %loop")
        out.begin("loop")
        out.do("%i = phi i64 [ 0, %entry ], [ %i.next, %body ]")
        out.do("%place = phi i64 [ %filled, %entry ], [ %end, %body ]")
        out.do("%more = icmp ult i64 %i, %n")
        out.do("br i1 %more, label %body, label %done")
        out.begin("body")
        out.do(f"store i64 %place, ptr {self.address(out, self.next, '%i', 8)}")
        count = out.value(f"load i32, ptr {self.address(out, self.counts, '%i', 4)}")
        out.do(f"%end = add i64 %place, {out.value(f'zext i32 {count} to i64')}")
        out.do(f"store i64 %end, ptr {out.value('getelementptr i64, ptr %ends.p, i64 %i')}")
        out.do("%i.next = add i64 %i, 1")
        out.do("br label %loop")
        out.begin("done")
        return function("places", ("room", "n", "filled", "ends"), out, result="%place", linkage="internal")

    def _listed(self) -> str:
        """listed(room, transition, n): list the states that have a transition; how many there are."""
        out = Assembly()
        pointers(out, "room")
        out.do(f"%start = mul i64 %transition, {_MASKS}")
        masks = self.address(out, self.masks, "%start", 8)
        out.do("br label %loop")
        out.begin("loop")
        out.do("%word = phi i64 [ 0, %entry ], [ %word.next, %next ]")
        out.do("%found = phi i64 [ 0, %entry ], [ %found.now, %next ]")
        out.do("%base = mul i64 %word, 64")
        out.do("%more = icmp ult i64 %base, %n")
        out.do("br i1 %more, label %body, label %done")
        out.begin("body")
        mask = out.value(f"load i64, ptr {out.value(f'getelementptr i64, ptr {masks}, i64 %word')}")
        # Of a last word that is not full, only what was written counts.
        out.do("%left = sub i64 %n, %base")
        out.do("%whole = icmp uge i64 %left, 64")
        out.do("%short = select i1 %whole, i64 0, i64 %left")
        out.do("%past = shl i64 -1, %short")
        out.do("%some = xor i64 %past, -1")
        out.do("%wanted = select i1 %whole, i64 -1, i64 %some")
        out.do(f"%mask = and i64 {mask}, %wanted")
        out.do("br label %bits")
        out.begin("bits")
        out.do("%left.bits = phi i64 [ %mask, %body ], [ %fewer, %bit ]")
        out.do("%found.now = phi i64 [ %found, %body ], [ %found.next, %bit ]")
        out.do("%any = icmp ne i64 %left.bits, 0")
        out.do("br i1 %any, label %bit, label %next")
        out.begin("bit")
        out.do("%low = call i64 @llvm.cttz.i64(i64 %left.bits, i1 true)")
        out.do("%lane = add i64 %base, %low")
        out.do("%lane.short = trunc i64 %lane to i16")
        out.do(f"store i16 %lane.short, ptr {self.address(out, self.list, '%found.now', 2)}")
        out.do("%found.next = add i64 %found.now, 1")
        out.do("%less = sub i64 %left.bits, 1")
        out.do("%fewer = and i64 %left.bits, %less")
        out.do("br label %bits")
        out.begin("next")
        out.do("%word.next = add i64 %word, 1")
        out.do("br label %loop")
        out.begin("done")
        return function("listed", ("room", "transition", "n"), out, result="%found", linkage="internal")
