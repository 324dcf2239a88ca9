"""The function that finds the successors of states, as `codegen` describes it: many states at a time, and without branches.

`expand` works through its states in chunks:

1. The words of the chunk are split into quarters (see `lanes`), those of all states one after the other.
2. The guards of all transitions are computed, LANES states at a time. Of each transition a bit of each state is kept, and of
   each state how many successors it has: so it is known where they will lie.
3. Of each transition, the states that have it are listed, and their successors written to their places. A transition that
   computes little does so for one state after the other. Of any other, the quarters that it looks at are gathered
   first, state after state, so that every lane of the vectors has work.

So the work is done transition by transition, and the successors come out ordered by their parents all the same. The first two of these can be called by
themselves, as `enabled`, and the third as `moved`: between them, a search takes out transitions whose successors it need not see.
"""

from collections.abc import Iterable, Iterator

from ...model.language import Expr, Transition, TransitionSystem, topological
from ..llvm.text import Assembly, function, load, loop, pointers, signed, store
from .lanes import LANES, QUARTER, QUARTERS, SHORT, Lanes, constant, vector
from .lowering import Literals, Lowering, in_order
from .room import CHUNK, Room
from .state_layout import Field, Layout

_MOST_NODES = 1500
"""How many expressions one function computes, about: the time to compile one grows faster than its size."""

FEW_NODES = 100
"""A transition that computes so few expressions is as quick for one state after the other."""


class Expansion:
    """Writes `expand`: parts that compute guards, and a function for each transition that writes successors.

    The parts keep each function small: the time to compile one grows faster than its size.
    """

    def __init__(self, system: TransitionSystem, layout: Layout) -> None:
        self.system, self.layout = system, layout
        self.constraint_number = {name: i for i, name in enumerate(self.system.constraints)}
        self.literals = Literals(self.layout, topological(self.system.roots()))
        self.room = Room(layout.words, len(system.transitions))

    def text(self) -> tuple[str, str]:
        """Its functions, and the large ones among them that these call."""
        parts = list(self._parts())
        functions = [self._guards(number, part) for number, part in enumerate(parts)]
        large = []
        for number in range(len(self.system.transitions)):
            movement, *computing = self._movement(number)
            functions.append(movement)
            large += computing
        whole = [self._enabled(len(parts)), self._moved(), self._loop()]
        return "\n".join([*self.room.functions(), *functions, *whole]), "\n".join(large)

    def _loop(self) -> str:
        """The function that goes over the states, a chunk at a time."""
        out = Assembly()
        taken = self._aligned(out)
        size = 8 * len(self.system.transitions)
        out.do(f"call void @llvm.memset.p0.i64(ptr {taken}, i8 0, i64 {size}, i1 false)")
        out.do("br label %loop")
        out.begin("loop")
        out.lines += [
            "  %first = phi i64 [ 0, %entry ], [ %first.next, %body ]",
            "  %filled = phi i64 [ 0, %entry ], [ %filled.next, %body ]",
        ]
        out.do("%left = sub i64 %count, %first")
        out.do("%more = icmp sgt i64 %left, 0")
        out.do("br i1 %more, label %body, label %done")
        out.begin("body")
        out.do(f"%small = icmp slt i64 %left, {CHUNK}")
        out.do(f"%n = select i1 %small, i64 %left, i64 {CHUNK}")
        out.do(f"%offset = mul i64 %first, {8 * self.layout.words}")
        out.do("%own = add i64 %states, %offset")
        out.do("%ends.offset = mul i64 %first, 8")
        out.do("%own.ends = add i64 %ends, %ends.offset")
        out.value("call i64 @enabled(i64 %own, i64 %n, i64 %hits, i64 %last, i64 %scratch)")
        arguments = "i64 %own, i64 %n, i64 %filled, i64 %out, i64 %which, i64 %own.ends, i64 %scratch"
        out.do(f"%filled.next = call i64 @moved({arguments})")
        out.do("%first.next = add i64 %first, %n")
        out.do("br label %loop")
        out.begin("done")
        parameters = ("states", "count", "out", "which", "ends", "hits", "last", "room")
        return function("expand", parameters, out, result="%filled")

    def _enabled(self, parts: int) -> str:
        """The function that notes which states of a chunk have which transitions."""
        out = Assembly()
        self._aligned(out)
        out.value("call i64 @split(i64 %states, i64 %scratch, i64 %n)")
        for part in range(parts):
            out.value(f"call i64 @guards{part}(i64 %scratch, i64 %n, i64 %hits, i64 %last)")
        return function("enabled", ("states", "n", "hits", "last", "room"), out, result="0")

    def _moved(self) -> str:
        """The function that writes the successors of a chunk by the transitions that are noted."""
        out = Assembly()
        taken = self._aligned(out)
        filled = out.value("call i64 @places(i64 %scratch, i64 %n, i64 %filled, i64 %ends)")
        for number in range(len(self.system.transitions)):
            found = out.value(f"call i64 @listed(i64 %scratch, i64 {number}, i64 %n)")
            arguments = f"i64 %states, i64 %out, i64 %which, i64 %scratch, i64 {found}"
            out.value(f"call i64 @move{number}({arguments})")
            at = out.value(f"getelementptr i64, ptr {taken}, i64 {number}")
            so_far = out.value(f"load i64, ptr {at}")
            out.do(f"store i64 {out.value(f'add i64 {so_far}, {found}')}, ptr {at}")
        return function(
            "moved", ("states", "n", "filled", "out", "which", "ends", "room"), out, result=filled
        )

    def _aligned(self, out: Assembly) -> str:
        """Where the arrays of the room begin, in %scratch; gives where `taken` lies."""
        out.do("%room.up = add i64 %room, 63")
        out.do("%scratch = and i64 %room.up, -64")
        pointers(out, "scratch")
        return out.value(f"getelementptr i8, ptr %scratch.p, i64 {self.room.taken}")

    # Guards

    def _parts(self) -> Iterator[list[int]]:
        """The numbers of the transitions whose guards one function computes."""
        part: list[int] = []
        known: set[Expr] = set()
        for number, transition in enumerate(self.system.transitions):
            roots = [transition.guard, *(c for _, c in transition.constraints)]
            more = in_order(roots, self.literals.free | known)
            if part and len(known) + len(more) > _MOST_NODES:
                yield part
                part, known = [], set()
                more = in_order(roots, self.literals.free)
            part.append(number)
            known.update(more)
        if part:
            yield part

    def _guards(self, number: int, transitions: list[int]) -> str:
        """A function that notes which states have which of the transitions, and counts the successors of each state."""
        self.out = out = Assembly()
        room = self.room
        pointers(out, "room", "hits")
        with loop(out, below="%n", step=LANES):
            inside = self._inside()
            lanes = Lanes(out, self.literals, lambda quarter: room.load(out, room.quarter(quarter), "%i"))
            counted = constant(QUARTER, 0)
            stopped: dict[str, str] = {}
            for t in transitions:
                transition = self.system.transitions[t]
                roots = [transition.guard, *(c for _, c in transition.constraints)]
                lanes.place(in_order(roots, self.literals.free))
                enabled = out.value(f"and {SHORT} {lanes.all_of(conjuncts(transition.guard))}, {inside}")
                if transition.constraints:
                    enabled = self._allowed(t, lanes, enabled, stopped)
                bits = out.value(f"bitcast <{LANES} x i1> {lanes.truth(enabled)} to i{LANES}")
                room.store_mask(out, t, bits)
                counted = out.value(f"sub {SHORT} {counted}, {enabled}")
            more = out.value(f"zext {SHORT} {counted} to {vector(32)}")
            at = room.address(out, room.counts, "%i", 4)
            before = out.value(f"load {vector(32)}, ptr {at}, align 64")
            out.do(
                f"store {vector(32)} {out.value(f'add {vector(32)} {before}, {more}')}, ptr {at}, align 64"
            )
            self._hits(stopped, lanes)
        return function(f"guards{number}", ("room", "n", "hits", "last"), out, result="0", linkage="internal")

    def _inside(self) -> str:
        """Which lanes from state %i on have a state."""
        out = self.out
        left = out.value("sub i64 %n, %i")
        short = out.value(f"trunc i64 {left} to i{QUARTER}")
        one = out.value(f"insertelement {SHORT} poison, i{QUARTER} {short}, i64 0")
        every = out.value(f"shufflevector {SHORT} {one}, {SHORT} poison, <{LANES} x i32> zeroinitializer")
        numbers = ", ".join(f"i{QUARTER} {lane}" for lane in range(LANES))
        truth = out.value(f"icmp slt {SHORT} <{numbers}>, {every}")
        return out.value(f"sext <{LANES} x i1> {truth} to {SHORT}")

    def _allowed(self, t: int, lanes: Lanes, enabled: str, stopped: dict[str, str]) -> str:
        """Where an enabled transition keeps to its constraints; those that stop it are added to `stopped`."""
        out = self.out
        counts = out.value(f"icmp ult i64 {t}, %last")
        one = out.value(f"select i1 {counts}, {SHORT} {enabled}, {SHORT} {constant(QUARTER, 0)}")
        constraints = self.system.transitions[t].constraints
        for name, constraint in constraints:
            holds = lanes.value(constraint)
            broken = out.value(
                f"and {SHORT} {one}, {out.value(f'xor {SHORT} {holds}, {constant(QUARTER, -1)}')}"
            )
            known = stopped.get(name)
            stopped[name] = out.value(f"or {SHORT} {known}, {broken}") if known else broken
            enabled = out.value(f"and {SHORT} {enabled}, {holds}")
        return enabled

    def _hits(self, stopped: dict[str, str], lanes: Lanes) -> None:
        """Note which constraints stop a transition."""
        out = self.out
        for name, where in stopped.items():
            word, bit = divmod(self.constraint_number[name], 64)
            mask = out.value(f"bitcast <{LANES} x i1> {lanes.truth(where)} to i{LANES}")
            hit = out.value(f"icmp ne i{LANES} {mask}, 0")
            bits = out.value(f"select i1 {hit}, i64 {signed(1 << bit)}, i64 0")
            known = load(out, "hits", str(word))
            store(out, "hits", str(word), out.value(f"or i64 {known}, {bits}"))

    # Successors

    def _updates(self, transition: Transition) -> Iterator[tuple[Expr, Field]]:
        """The new value of each field that a transition assigns to."""
        for variable, value in transition.updates.items():
            field = self.layout.fields.get(variable)
            if field is not None and field.bits:  # other variables have one value only, and no place
                yield value, field

    def _movement(self, number: int) -> list[str]:
        """The function that writes the successors by one transition for the states in the list; and the large one that it calls."""
        updates = list(self._updates(self.system.transitions[number]))
        computed = [value for value, _ in updates if value.op != "const"]
        nodes = in_order(computed, self.literals.free)
        if len(nodes) <= FEW_NODES:
            return [self._one_by_one(number, updates, nodes)]
        return self._side_by_side(number, updates, nodes)

    def _one_by_one(self, number: int, updates: list[tuple[Expr, Field]], nodes: list[Expr]) -> str:
        """Computed for one state after the other."""
        out = Assembly()
        with self.room.each_listed(out):
            words = self.room.parent_words(out)
            lowering = Lowering(out, self.layout, self.literals, words)
            lowering.place(nodes)
            changed = _masks((field.word, field.mask) for _, field in updates)
            fixed = _masks((f.word, f.pattern(v.value)) for v, f in updates if v.op == "const")
            parts: dict[int, list[str]] = {}
            for value, field in updates:
                if value.op != "const":
                    parts.setdefault(field.word, []).append(lowering.field(value, field.shift, field.lo))
            place = self.room.take_place(out, number)
            for word, result in enumerate(words):
                if word in changed:
                    result = out.value(f"and i64 {result}, {signed(~changed[word] % 2**64)}")
                    if fixed.get(word):
                        result = out.value(f"or i64 {result}, {signed(fixed[word])}")
                    for part in parts.get(word, ()):
                        result = out.value(f"or i64 {result}, {part}")
                self.room.store_word(out, place, word, result)
        return self.room.movement(number, out)

    def _side_by_side(self, number: int, updates: list[tuple[Expr, Field]], nodes: list[Expr]) -> list[str]:
        """Computed for LANES states at once."""
        room = self.room
        changed = _quarter_masks((field.word, field.mask) for _, field in updates)
        fixed = _quarter_masks((f.word, f.pattern(v.value)) for v, f in updates if v.op == "const")
        out = Assembly()
        pointers(out, "room")
        with loop(out, step=LANES):
            read: dict[int, None] = {}

            def gathered(quarter: int) -> str:
                read[quarter] = None
                return room.load(out, room.dense(quarter), "%i")

            lanes = Lanes(out, self.literals, gathered)
            lanes.place(nodes)
            parts: dict[int, list[str]] = {}
            for value, field in updates:
                if value.op != "const":
                    for quarter, part in lanes.field(value, field).items():
                        parts.setdefault(quarter, []).append(part)
            results = {}
            for quarter, mask in changed.items():
                result = constant(QUARTER, 0)
                if mask != (1 << QUARTER) - 1:
                    result = out.value(f"and {SHORT} {lanes.quarter(quarter)}, {constant(QUARTER, ~mask)}")
                if fixed.get(quarter):
                    result = out.value(f"or {SHORT} {result}, {constant(QUARTER, fixed[quarter])}")
                for part in parts.get(quarter, ()):
                    result = out.value(f"or {SHORT} {result}, {part}")
                results[quarter] = result
            for quarter, result in results.items():
                room.store(out, room.dense(quarter), "%i", result)
        computing = function(f"compute{number}", ("room", "count"), out, result="0")
        return [self._gather_and_move(number, sorted(read), sorted(results)), computing]

    def _gather_and_move(self, number: int, read: list[int], written: list[int]) -> str:
        """The function around the computation: what it reads is gathered before, and what it gives written after."""
        out, room = Assembly(), self.room
        with room.each_listed(out, "gather"):
            for quarter in read:
                room.copy_quarter(out, quarter)
        out.value(f"call i64 @compute{number}(i64 %room, i64 %count)")
        with room.each_listed(out):
            words = room.parent_words(out)
            place = room.take_place(out, number)
            for word, value in enumerate(words):
                room.store_word(out, place, word, value)
            for quarter in written:
                room.store_quarter(out, place, quarter)
        return room.movement(number, out) + f"declare i64 @compute{number}(i64, i64)\n"


def conjuncts(guard: Expr) -> tuple[Expr, ...]:
    """The conditions that make up a guard; none of them for one that always holds."""
    if guard.op == "and":
        return guard.args
    return () if guard.op == "const" and guard.value else (guard,)


def _masks(parts: Iterable[tuple[int, int]]) -> dict[int, int]:
    """The parts of each word together."""
    found: dict[int, int] = {}
    for word, bits in parts:
        found[word] = found.get(word, 0) | bits
    return found


def _quarter_masks(parts: Iterable[tuple[int, int]]) -> dict[int, int]:
    """The parts of each quarter together, where there is one."""
    low = (1 << QUARTER) - 1
    found = {
        QUARTERS * word + k: bits >> QUARTER * k & low
        for word, bits in _masks(parts).items()
        for k in range(QUARTERS)
    }
    return {quarter: bits for quarter, bits in found.items() if bits}
