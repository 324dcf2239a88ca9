"""How the transitions of a system are tested: a tree of branches, so that whole groups are skipped at once.

The guards of a step's transitions have much in common ("the goroutine stands at FILTER"). Neighbouring
transitions that share conjuncts share a branch on them; what only they read is computed behind it.
The order of the transitions is kept, for states are numbered by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from ...model.language import Expr, Transition


@dataclass(eq=False, slots=True)
class Branch:
    """Code that runs where all of `condition` holds in its parent's code; the root runs always.

    A leaf carries one transition; any other branch has children, tried in order. `nodes` are the
    expressions computed on entry, arguments first.
    """

    condition: tuple[Expr, ...]
    transition: int | None = None
    children: list[Branch] = field(default_factory=list)
    nodes: list[Expr] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many expressions are computed here and in the branches inside."""
        return len(self.nodes) + sum(child.size for child in self.children)


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
        branch = _add(parent, shared, cheap)
        if end - start == 1:
            branch.transition = items[start][0]
        else:
            _grow(
                branch, [(i, {c: None for c in own if c not in shared}) for i, own in items[start:end]], cheap
            )
        start = end


def _add(parent: Branch, conditions: dict[Expr, None], cheap: AbstractSet[Expr]) -> Branch:
    """A new branch on the conditions: two, one in the other, if some are cheap and some are not."""
    first = tuple(c for c in conditions if c in cheap)
    rest = tuple(c for c in conditions if c not in cheap)
    for some in (first, rest) if first and rest else (first or rest,):
        branch = Branch(some)
        parent.children.append(branch)
        parent = branch
    return parent


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


def split(root: Branch, most: int) -> list[Branch]:
    """The children of a placed root, in order, under several roots of about `most` expressions at most."""
    roots = [Branch(())]
    size = 0
    for child in root.children:
        if roots[-1].children and size + child.size > most:
            roots.append(Branch(()))
            size = 0
        roots[-1].children.append(child)
        size += child.size
    return roots


def place(branch: Branch, own: Mapping[Branch, list[Expr]], free: AbstractSet[Expr]) -> None:
    """Fill `nodes`, here and in the branches inside, with what their code needs.

    A branch computes what its own expressions and the conditions of its children need, unless a branch
    around it has computed that already: nothing that is not needed for certain. What several children
    need inside is computed in each, for few of them run. Nodes in `free` cost next to nothing and are
    left to whoever needs them.
    """
    _place(branch, own, free, set())


def _place(
    branch: Branch, own: Mapping[Branch, list[Expr]], free: AbstractSet[Expr], known: set[Expr]
) -> None:
    needed = [*own.get(branch, ()), *(c for child in branch.children for c in child.condition)]
    branch.nodes = _missing(needed, free, known)
    known.update(branch.nodes)
    for child in branch.children:
        _place(child, own, free, known)
    known.difference_update(branch.nodes)


def _missing(roots: list[Expr], free: AbstractSet[Expr], known: set[Expr]) -> list[Expr]:
    """The nodes below the roots that are neither free nor known, arguments first."""
    order: dict[Expr, None] = {}
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        node, done = stack.pop()
        if done:
            order[node] = None
        elif node not in free and node not in known and node not in order:
            stack.append((node, True))
            stack.extend((arg, False) for arg in reversed(node.args))
    return list(order)
