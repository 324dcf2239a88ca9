"""Proofs on paper: an inductive invariant with its three obligations as SMT-LIB, and a fresh solver that checks them.

The text stands by itself: any solver for bit-vectors (or integers) can read it, and answers `unsat` three times if the
proof is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import z3

from ..smt.theories import Term
from .cubes import Cube, Cubes

OBLIGATIONS = (
    ("the initial state is in the invariant", ("initial", "(not invariant)")),
    ("no step leaves the invariant", ("invariant", "step", "(not invariant-after)")),
    ("the invariant implies the property", ("invariant", "(not property)")),
)


def certificate(cubes: Cubes, excluded: Sequence[Cube], title: str) -> str:
    """The invariant that says that the property holds and none of the cubes does, with its obligations."""
    relation, before, after = cubes.relation, cubes.before, cubes.after
    quantities = cubes.quantities
    later = relation.terms(after)
    definitions = {
        "ranges": [*quantities.constraints(), *relation.within(before)],
        "initial": relation.initial(before),
        "step": relation.step(before, cubes.terms, after, cubes.choice),
        "property": [cubes.good],
        "invariant": [cubes.good, *(z3.Not(z3.And(cubes.within(before, c))) for c in excluded)],
        "invariant-after": [
            later[cubes.invariant],
            *(z3.Not(z3.And(cubes.within(after, c))) for c in excluded),
        ],
    }
    symbols = [*quantities.terms(), *before.values(), *after.values(), cubes.choice]
    lines = [f"; {line}" for line in title.splitlines()]
    lines += ["(set-logic ALL)", *(f"(declare-const {s.sexpr()} {s.sort().sexpr()})" for s in symbols)]
    lines += [f"(define-fun {name} () Bool {_all(items).sexpr()})" for name, items in definitions.items()]
    lines.append("(assert ranges)")
    for words, asserted in OBLIGATIONS:
        lines += [
            f"; {words}: unsat",
            "(push 1)",
            *(f"(assert {a})" for a in asserted),
            "(check-sat)",
            "(pop 1)",
        ]
    return "\n".join(lines) + "\n"


def failed_obligations(text: str) -> list[str]:
    """Read a certificate with a solver of its own; what it does not confirm, in words."""
    context = z3.Context()
    answers = z3.Z3_eval_smtlib2_string(context.ref(), text).split()
    answers += ["no answer"] * (len(OBLIGATIONS) - len(answers))
    return [
        f"{words}: {answer}"
        for (words, _), answer in zip(OBLIGATIONS, answers, strict=False)
        if answer != "unsat"
    ] + answers[len(OBLIGATIONS) :]


def _all(items: Iterable[Term]) -> Term:
    return z3.And([z3.BoolVal(True), *items])
