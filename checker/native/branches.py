"""How the transitions of a system are tested: a tree of branches, so that whole groups are skipped at once.

The guards of a step's transitions have much in common ("the goroutine stands at FILTER"). Neighbouring
transitions that share conjuncts share a branch on them; what only they read is computed behind it.
The order of the transitions is kept, for states are numbered by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from ...model.language import Expr, Transition, topological


@dataclass(eq=False, slots=True)
class Branch:
    """Code that runs where all of `condition` holds in its parent's code; the root runs always.

    A leaf carries one transition; any other branch has children, tried in order. `nodes` are the
    expressions computed on entry, arguments first.
    """

    condition: tuple[Expr, ...]
    parent: Branch | None = None
    transition: int | None = None
    children: list[Branch] = field(default_factory=list)
    nodes: list[Expr] = field(default_factory=list)
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        self.depth = 0 if self.parent is None else self.parent.depth + 1


def conjuncts(guard: Expr) -> tuple[Expr, ...]:
    """The conditions that make up a guard; none of them for one that always holds."""
    if guard.op == "and":
        return guard.args
    return () if guard.op == "const" and guard.value else (guard,)


# A transition with the conjuncts that no branch around it has tested yet. (A dict, because `in` on a
# tuple would ask two expressions whether they are equal, and get an expression.)
_Item = tuple[int, dict[Expr, None]]


def branch_tree(transitions: Sequence[Transition], cheap: AbstractSet[Expr]) -> Branch:
    """The tree for `transitions`. Conditions in `cheap` are tested before any others of one transition."""
    root = Branch(())
    _grow(root, [(i, dict.fromkeys(conjuncts(t.guard))) for i, t in enumerate(transitions)], cheap)
    return root


def _grow(parent: Branch, items: list[_Item], cheap: AbstractSet[Expr]) -> None:
    start = 0
    while start < len(items):
        shared, end = _longest_run(items, start)
        if end - start == 1:
            _grow_single(parent, *items[start], cheap)
        else:
            branch = Branch(tuple(shared), parent)
            parent.children.append(branch)
            rest = [(i, {c: None for c in own if c not in shared}) for i, own in items[start:end]]
            _grow(branch, rest, cheap)
        start = end


def _longest_run(items: list[_Item], start: int) -> tuple[dict[Expr, None], int]:
    """The conjuncts of the item at `start` that the most neighbours after it share, and the end of the run."""
    best: dict[Expr, None] = {}
    best_end = start + 1
    for condition in items[start][1]:
        end = start + 1
        while end < len(items) and condition in items[end][1]:
            end += 1
        if end > best_end:
            best, best_end = {condition: None}, end
        elif end == best_end:
            best[condition] = None
    return best, best_end


def _grow_single(
    parent: Branch, transition: int, conditions: dict[Expr, None], cheap: AbstractSet[Expr]
) -> None:
    first = tuple(c for c in conditions if c in cheap)
    rest = tuple(c for c in conditions if c not in cheap)
    if first and rest:
        outer = Branch(first, parent)
        parent.children.append(outer)
        parent, first = outer, ()
    parent.children.append(Branch(first + rest, parent, transition))


def place(uses: Iterable[tuple[Expr, Branch]], free: AbstractSet[Expr]) -> None:
    """Put every node below the uses into the innermost branch that encloses all that need it.

    Fills `Branch.nodes`. Nodes in `free` cost next to nothing and are left to whoever needs them.
    """
    home: dict[Expr, Branch] = {}

    def need(node: Expr, branch: Branch) -> None:
        if node not in free:
            known = home.get(node)
            home[node] = branch if known is None else common(known, branch)

    uses = list(uses)
    for node, branch in uses:
        need(node, branch)
    order = topological([node for node, _ in uses])
    for node in reversed(order):
        if node in home:
            for arg in node.args:
                need(arg, home[node])
    for node in order:
        if node in home:
            home[node].nodes.append(node)


def common(a: Branch, b: Branch) -> Branch:
    """The innermost branch around both."""
    while a is not b:
        if a.depth >= b.depth:
            assert a.parent is not None
            a = a.parent
        else:
            assert b.parent is not None
            b = b.parent
    return a
