"""Which values can every variable and every expression ever take?

An inductive over-approximation, variable by variable: each variable starts with its initial value, and
whenever a transition may happen, the values of its updates are added, until nothing changes. What one
variable's value says about another's is forgotten, so the answer may contain too much but never too
little: every reachable state lies in the product of the variables' values. So is what one reading of an unknown
parameter says about another: each may have any value of the parameter's range.

A small domain is a bit mask (bit i stands for lo + i), a large one an interval. Only what depends on a
change is evaluated again.
"""

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from ...model.language import BOOL, Expr, TransitionSystem, Variable, topological

LARGEST_MASK = 128
"""Domains with more values than this are intervals."""

WIDENING_THRESHOLD = 8
"""How often an interval may grow before it is taken to be the whole domain."""

Values = int | tuple[int, int]  # a bit mask from the node's lo on, or the least and greatest value


class ValueAnalysis:
    """The values of everything below the transitions and the `predicates` of a system."""

    def __init__(self, system: TransitionSystem, predicates: Iterable[Expr]) -> None:
        self.system = system
        self._nodes = topological([*transition_roots(system), *predicates])
        self._at = {node: i for i, node in enumerate(self._nodes)}
        self._args = [tuple(map(self._at.__getitem__, node.args)) for node in self._nodes]
        # A mask counts from here on. That of a bool has two bits even for a constant.
        self._low = [0 if node.sort is BOOL else node.lo for node in self._nodes]
        self._users: list[list[int]] = [[] for _ in self._nodes]
        for i, args in enumerate(self._args):
            for a in args:
                self._users[a].append(i)
        # More than one where predicates and transitions come from different graphs.
        self._nodes_of: dict[Variable, list[int]] = {}
        for i, node in enumerate(self._nodes):
            if node.op == "var":
                self._nodes_of.setdefault(node.value, []).append(i)
        self._values: list[Values] = [0] * len(self._nodes)
        self._of: dict[Variable, Values] = {
            v: _exactly(v.initial, v.lo, v.hi) for v in _all_variables(system, self._nodes)
        }
        self._growth: dict[Variable, int] = {}
        self._solve()

    def range_of(self, node: Expr) -> tuple[int, int]:
        """The least and greatest value that an expression can take."""
        at = self._at[node]
        return _hull(self._values[at], self._low[at])

    def range_of_variable(self, variable: Variable) -> tuple[int, int]:
        """The least and greatest value that a variable can take."""
        return _hull(self._of[variable], variable.lo)

    def may_hold(self, condition: Expr) -> bool:
        """Whether a condition can be true at all."""
        return self.range_of(condition)[1] == 1

    def _solve(self) -> None:
        targets: list[list[Variable]] = [[] for _ in self._nodes]  # what the node is assigned to
        conditions = [
            [self._at[e] for e in (t.guard, *(constraint for _, constraint in t.constraints))]
            for t in self.system.transitions
        ]
        waits: list[list[int]] = [[] for _ in self._nodes]  # transitions that the node may block
        for number, needed in enumerate(conditions):
            for node in needed:
                waits[node].append(number)
        possible = [False] * len(conditions)
        count, begun = len(self._nodes), 0  # from there on, no node has been evaluated
        dirty: list[int] = []  # of the others, those that are to be evaluated again
        queued = [True] * count

        def touch(node: int) -> None:
            if not queued[node]:
                queued[node] = True
                heappush(dirty, node)

        def assign(variable: Variable, node: int) -> None:
            if self._join(variable, self._values[node], self._low[node]):
                for reader in self._nodes_of.get(variable, ()):
                    touch(reader)

        def consider(number: int) -> None:
            if possible[number] or any(self._values[c] in (0, 1) for c in conditions[number]):
                return
            possible[number] = True
            for variable, update in self.system.transitions[number].updates.items():
                node = self._at[update]
                targets[node].append(variable)
                if self._values[node]:
                    assign(variable, node)

        while dirty or begun < count:
            if dirty:
                node = heappop(dirty)
            else:
                node = begun
                begun += 1
            queued[node] = False
            found = self._evaluate(node)
            if found == self._values[node]:
                continue
            self._values[node] = found
            for user in self._users[node]:
                touch(user)
            for variable in targets[node]:
                assign(variable, node)
            for number in waits[node]:
                consider(number)

    def _join(self, variable: Variable, values: Values, base: int) -> bool:
        """Add values to a variable's; whether that changed anything."""
        old = self._of[variable]
        if isinstance(old, int):
            new: Values = old | _as_mask(values, base, variable.lo, variable.hi)
        else:
            lo, hi = _hull(values, base)
            new = (min(lo, old[0]), max(hi, old[1]))
            if new != old:
                self._growth[variable] = self._growth.get(variable, 0) + 1
                if self._growth[variable] > WIDENING_THRESHOLD:
                    new = (variable.lo, variable.hi)
        self._of[variable] = new
        return new != old

    def _evaluate(self, index: int) -> Values:
        """The values of one node, from those of its arguments."""
        node, values, args = self._nodes[index], self._values, self._args[index]
        op = node.op
        if op == "and" or op == "or":
            either, absorbing = 0, 1 if op == "and" else 2
            for a in args:
                value = values[a]
                assert isinstance(value, int)
                if value == absorbing:
                    return absorbing
                either |= value & absorbing
            return either | (3 - absorbing)
        if op == "ite":
            condition = values[args[0]]
            chosen = args[1:] if condition == 3 else (args[1],) if condition == 2 else (args[2],)
            parts = [(values[a], self._low[a]) for a in chosen]
            if node.hi - node.lo < LARGEST_MASK:
                mask = 0
                for value, base in parts:
                    mask |= _as_mask(value, base, node.lo, node.hi)
                return mask
            hulls = [_hull(value, base) for value, base in parts]
            return _clip(min(h[0] for h in hulls), max(h[1] for h in hulls), node)
        if op == "not":
            value = values[args[0]]
            return 3 if value == 3 else 3 - value  # type: ignore[operator]
        if op == "var":
            return self._of[node.value]
        if op == "const":
            return _exactly(node.value, self._low[index], node.hi)
        if op == "param":
            return _clip(node.lo, node.hi, node)
        left, right = args
        return _binary(node, values[left], self._low[left], values[right], self._low[right])


def transition_roots(system: TransitionSystem) -> Iterator[Expr]:
    """Every expression of the transitions."""
    for t in system.transitions:
        yield t.guard
        yield from (constraint for _, constraint in t.constraints)
        yield from t.updates.values()


def _all_variables(system: TransitionSystem, nodes: list[Expr]) -> dict[Variable, None]:
    found = dict.fromkeys(system.variables)
    found.update(dict.fromkeys(node.value for node in nodes if node.op == "var"))
    for t in system.transitions:
        found.update(dict.fromkeys(t.updates))
    return found


def _binary(node: Expr, x: Values, x_lo: int, y: Values, y_lo: int) -> Values:
    op = node.op
    (a, b), (c, d) = _hull(x, x_lo), _hull(y, y_lo)
    if op == "eq":
        if isinstance(x, int) and isinstance(y, int):
            shift = x_lo - y_lo
            common = (x << shift) & y if shift >= 0 else x & (y << -shift)
            can_hold = common != 0
        else:
            can_hold = a <= d and c <= b
        can_fail = not (a == b == c == d)
        return 2 * can_hold + can_fail
    if op == "lt":
        return 2 * (a < d) + (b >= c)
    small = node.hi - node.lo < LARGEST_MASK and isinstance(x, int) and isinstance(y, int)
    if op in ("add", "sub") and small:
        mask = 0
        for value in _each(y, y_lo):
            mask |= _as_mask(x, x_lo + value if op == "add" else x_lo - value, node.lo, node.hi)
        return mask
    if op == "add":
        return _clip(a + c, b + d, node)
    if op == "sub":
        return _clip(a - d, b - c, node)
    if op == "mul":
        corners = (a * c, a * d, b * c, b * d)
    else:
        assert op == "div", op
        corners = (a // c, a // d, b // c, b // d)
    return _clip(min(corners), max(corners), node)


def _exactly(code: int, lo: int, hi: int) -> Values:
    return 1 << (code - lo) if hi - lo < LARGEST_MASK else (code, code)


def _hull(values: Values, base: int) -> tuple[int, int]:
    if isinstance(values, int):
        return base + (values & -values).bit_length() - 1, base + values.bit_length() - 1
    return values


def _each(values: Values, base: int) -> Iterator[int]:
    lo, hi = _hull(values, base)
    for value in range(lo, hi + 1):
        if not isinstance(values, int) or values >> (value - base) & 1:
            yield value


def _as_mask(values: Values, base: int, lo: int, hi: int) -> int:
    """Values as a mask from `lo` on; those outside lo..hi are left out."""
    if not isinstance(values, int):
        low, high = max(values[0], lo), min(values[1], hi)
        return (1 << (high + 1 - lo)) - (1 << (low - lo)) if low <= high else 0
    if base == lo:  # as most are
        return values & ((1 << (hi - lo + 1)) - 1)
    shifted = values << (base - lo) if base >= lo else values >> (lo - base)
    return shifted & ((1 << (hi - lo + 1)) - 1)


def _clip(lo: int, hi: int, node: Expr) -> Values:
    """An interval, within the node's range, in the form that the node's domain has."""
    lo, hi = max(lo, node.lo), min(hi, node.hi)
    return _as_mask((lo, hi), lo, node.lo, node.hi) if node.hi - node.lo < LARGEST_MASK else (lo, hi)
