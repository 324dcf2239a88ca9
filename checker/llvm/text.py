"""The text of LLVM functions: instructions, blocks, loops, arrays of i64."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class Assembly:
    """The text of one function: instructions whose results are numbered, and labels."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.block = "entry"
        self._values = self._labels = 0

    def value(self, instruction: str) -> str:
        """Add an instruction and name its result."""
        self._values += 1
        name = f"%v{self._values}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        """Add an instruction without a result."""
        self.lines.append(f"  {instruction}")

    def new_label(self, hint: str) -> str:
        """A label for a block that is begun later."""
        self._labels += 1
        return f"{hint}{self._labels}"

    def begin(self, label: str) -> None:
        """Begin the block of this label; the one before must have ended in a branch."""
        self.lines.append(f"{label}:")
        self.block = label


def pointers(out: Assembly, *names: str) -> None:
    """Make pointers of parameters that are addresses: %name.p of %name."""
    for name in names:
        out.do(f"%{name}.p = inttoptr i64 %{name} to ptr")


def function(name: str, parameters: Iterable[str], out: Assembly, result: str, linkage: str = "") -> str:
    """The text of a function of i64 parameters that gives `result` where its code ends."""
    head = ", ".join(f"i64 %{p}" for p in parameters)
    return "\n".join(
        [
            f"define {linkage} i64 @{name}({head}) nounwind {{",
            "entry:",
            *out.lines,
            f"  ret i64 {result}",
            "}\n",
        ]
    )


@contextmanager
def loop(
    out: Assembly, i: str = "%i", below: str = "%count", start: str = "0", step: int = 1
) -> Iterator[None]:
    """The code inside runs for `i` = start, start + step .. `below` - 1."""
    name, origin = out.new_label("loop"), out.block
    out.do(f"br label %{name}")
    out.begin(name)
    head = len(out.lines)
    more = out.value(f"icmp ult i64 {i}, {below}")
    out.do(f"br i1 {more}, label %{name}.body, label %{name}.done")
    out.begin(f"{name}.body")
    yield
    out.do(f"{i}.next = add i64 {i}, {step}")
    out.do(f"br label %{name}")
    out.lines.insert(head, f"  {i} = phi i64 [ {start}, %{origin} ], [ {i}.next, %{out.block} ]")
    out.begin(f"{name}.done")


def words(out: Assembly, count: int) -> list[str]:
    """Load the words of state %i, of `count` words each."""
    start = out.value(f"mul i64 %i, {count}")
    return [load(out, "states", out.value(f"add i64 {start}, {w}") if w else start) for w in range(count)]


def load(out: Assembly, array: str, index: str) -> str:
    """Load an element of an array of i64 that `pointers` knows."""
    at = out.value(f"getelementptr i64, ptr %{array}.p, i64 {index}")
    return out.value(f"load i64, ptr {at}")


def store(out: Assembly, array: str, index: str, value: str) -> None:
    """Store an element of such an array."""
    at = out.value(f"getelementptr i64, ptr %{array}.p, i64 {index}")
    out.do(f"store i64 {value}, ptr {at}")


def signed(word: int) -> int:
    """The 64-bit word as LLVM writes it."""
    return wrapped(word, 64)


def wrapped(value: int, size: int) -> int:
    """The number in -2^(size-1)..2^(size-1)-1 that agrees with `value` in its low `size` bits."""
    half = 1 << (size - 1)
    return (value + half) % (2 * half) - half
