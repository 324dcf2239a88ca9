"""What tells two transition systems apart: a hash of everything that decides how they run and what is asked of them."""

import hashlib
from collections.abc import Iterable

import msgspec

from ...model.language import Expr, TransitionSystem, topological
from ..core.trace import plain_value


def fingerprint(system: TransitionSystem) -> str:
    """SHA-256 over the variables, the transitions and the predicates of a system, in hexadecimal.

    Equal systems have equal fingerprints in every process and on every machine; texts that only people read (what a step
    is documented to do, where it is written) do not count. It says nothing of whether different systems behave differently.
    """
    numbers: dict[Expr, int] = {}
    nodes = []
    for node in topological(system.roots()):
        value = node.value.name if node.op in ("var", "param") else node.value
        nodes.append([node.op, [numbers[arg] for arg in node.args], value])
        numbers[node] = len(numbers)

    def listed(named: Iterable[tuple[str, Expr]]) -> list[tuple[str, int]]:
        return [(name, numbers[e]) for name, e in named]

    written: dict[str, object] = {
        "name": system.name,
        "variables": [[v.name, v.sort.name, v.lo, v.hi, v.initial] for v in system.variables],
        "nodes": nodes,
        "transitions": [
            {
                "step": [t.part, t.step, [(name, plain_value(value)) for name, value in t.args]],
                "actor": t.actor,
                "fair": [t.fair, [(f.name, f.strong, f.within_bounds) for f in t.fairness]],
                "guard": numbers[t.guard],
                "constraints": listed(t.constraints),
                "updates": listed((v.name, e) for v, e in t.updates.items()),
            }
            for t in system.transitions
        ],
        "invariants": listed(system.invariants.items()),
        "witnesses": listed(system.witnesses.items()),
        "resettabilities": listed(system.resettabilities.items()),
        "livenesses": [
            [name, [[c.name, [numbers[e] for e in c.predicates]] for c in cases]]
            for name, cases in system.livenesses.items()
        ],
    }
    if system.scales:
        written["lasts"] = [t.lasts.name for t in system.transitions]
    return hashlib.sha256(_as_json(written)).hexdigest()


def _as_json(written: object) -> bytes:
    """A text in ASCII, as the standard library writes it."""
    text = msgspec.json.encode(written)
    if text.isascii() and b"\x7f" not in text:
        return text
    import json  # it takes a while to import, and hardly a name needs it

    return json.dumps(written, separators=(",", ":")).encode()
